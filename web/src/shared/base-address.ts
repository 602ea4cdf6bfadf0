/**
 * The address that relative ones count from: the document's, or the worker's, which has no document; undefined in Node.js. It
 * has no user name and no password: Chromium keeps those of the page's address there, and refuses to fetch what has them.
 */
export function baseAddress(): string | undefined {
  const { document, location } = globalThis as {
    document?: { baseURI: string };
    location?: { href: string };
  };
  const base = document?.baseURI ?? location?.href;
  return base?.replace(/^(https?:\/\/)[^/?#]*@/i, "$1");
}
