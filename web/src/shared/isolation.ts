// Why a page is not cross-origin isolated, which threads require. Page and worker use the same words.

/** The facts about a page that is not isolated. A worker does not know whether its page is in a frame. */
export interface Page {
  isSecure: boolean;
  isFramed: boolean;
  /** By its header Permissions-Policy, as far as the browser tells. */
  isForbidden?: boolean;
}

export const isolationHeaders = [
  "Cross-Origin-Opener-Policy: same-origin",
  "Cross-Origin-Embedder-Policy: credentialless", // Safari supports only require-corp
].join("\n");

/** Why the page is not isolated: a clause that begins with "the page". */
export function whyNotIsolated({ isSecure, isFramed, isForbidden }: Page): string {
  // Over http, the headers have no effect.
  if (!isSecure) return "the page is served over http, and browsers give threads to https and localhost only";
  if (isFramed) return "the page is in a frame that is not cross-origin isolated";
  if (isForbidden) return "the page's Permissions-Policy forbids it to be cross-origin isolated";
  return "the page is not cross-origin isolated (COOP and COEP headers)";
}

/** The exact headers or setting that would isolate the page. */
export function isolationRemedy({ isSecure, isFramed, isForbidden }: Page): string {
  if (!isSecure) return "serve the page over https";
  if (isForbidden && !isFramed) return "remove cross-origin-isolated=() from the header Permissions-Policy";
  if (!isFramed) return isolationHeaders;
  return `send both pages, the outer and the inner, with\n${isolationHeaders}\nand write <iframe allow="cross-origin-isolated">`;
}
