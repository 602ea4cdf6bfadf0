// Tokens as the page shows them.

/** With what cannot be seen made visible. */
export const visible = (text: string): string => text.replaceAll(" ", "␣").replaceAll("\n", "↵");
