// Why a page is not cross-origin isolated, without which it has no threads. The same words for page and worker.

export interface WhyNot {
  /** A clause that begins with "the page". */
  reason: string;
  /** The very headers or setting that would change it. */
  remedy: string;
}

export const isolationHeaders = [
  "Cross-Origin-Opener-Policy: same-origin",
  "Cross-Origin-Embedder-Policy: credentialless", // Safari knows require-corp alone
].join("\n");

/** For a page that is not isolated. A worker does not know whether it is in a frame. */
export function whyNotIsolated(page: { isSecure: boolean; isFramed: boolean }): WhyNot {
  // Headers do nothing there, and are not to blame.
  if (!page.isSecure) {
    return {
      reason: "the page is served over http, and browsers give threads to https and localhost only",
      remedy: "serve the page over https",
    };
  }
  if (page.isFramed) {
    return {
      reason: "the page is in a frame that is not cross-origin isolated",
      remedy: `send both pages, the outer and the inner, with\n${isolationHeaders}\nand write <iframe allow="cross-origin-isolated">`,
    };
  }
  return {
    reason: "the page is not cross-origin isolated (COOP and COEP headers)",
    remedy: isolationHeaders,
  };
}
