/**
 * The base of relative addresses: the document's, or in a worker its own; undefined in Node.js. User name and password
 * are removed: Chromium keeps those of the page's address, and refuses to fetch addresses that contain them.
 */
export function baseAddress(): string | undefined {
  const { document, location } = globalThis as {
    document?: { baseURI: string };
    location?: { href: string };
  };
  const base = document?.baseURI ?? location?.href;
  return base?.replace(/^(https?:\/\/)[^/?#]*@/i, "$1");
}
