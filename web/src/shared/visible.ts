// The text of a token as the page shows it.

const signs = new Map(Object.entries({ " ": "␣", "\u00a0": "␣", "\n": "↵", "\r": "↵", "\t": "⇥" }));

/** Replaces invisible characters with visible signs. */
export const visible = (text: string): string => text.replace(/\s/g, (sign) => signs.get(sign) ?? "␣");
