// The text of a token as the page shows it.

/** Replaces invisible characters with visible signs. */
export const visible = (text: string): string => text.replaceAll(" ", "␣").replaceAll("\n", "↵");
