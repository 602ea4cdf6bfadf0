// The page reads the text of a special token, such as "<|im_start|>", as that token. The model may have written it, and
// its text must mean the same after a reload, in a link and in a saved text.

/** For every request that tokenizes the page's text, so that all agree. */
export const withSpecialTokens = { allowSpecial: true } as const;
