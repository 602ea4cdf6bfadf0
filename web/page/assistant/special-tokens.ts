// How the page reads its text: where it has the text of a special token, such as "<|im_start|>", it has that token. The
// model may have written it, and what the model wrote means the same after a reload, in a link and in a saved text.

/** For all that makes tokens of the page's text, so that they agree. */
export const withSpecialTokens = { allowSpecial: true } as const;
