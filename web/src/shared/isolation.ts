// Why a page is not cross-origin isolated, without which it has no threads. The same words for page and worker.

/** For a page that is not isolated. A worker does not know whether it is in a frame. */
export interface Page {
  isSecure: boolean;
  isFramed: boolean;
}

export const isolationHeaders = [
  "Cross-Origin-Opener-Policy: same-origin",
  "Cross-Origin-Embedder-Policy: credentialless", // Safari knows require-corp alone
].join("\n");

/** A clause that begins with "the page". */
export function whyNotIsolated({ isSecure, isFramed }: Page): string {
  // Headers do nothing there, and are not to blame.
  if (!isSecure) return "the page is served over http, and browsers give threads to https and localhost only";
  if (isFramed) return "the page is in a frame that is not cross-origin isolated";
  return "the page is not cross-origin isolated (COOP and COEP headers)";
}

/** The very headers or setting that would change it. */
export function isolationRemedy({ isSecure, isFramed }: Page): string {
  if (!isSecure) return "serve the page over https";
  if (!isFramed) return isolationHeaders;
  return `send both pages, the outer and the inner, with\n${isolationHeaders}\nand write <iframe allow="cross-origin-isolated">`;
}
