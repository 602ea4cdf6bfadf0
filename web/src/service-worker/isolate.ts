// Cross-origin isolation where the host sends no headers for it, without which a page has no threads. It is asked for in
// the mildest way that the browser knows: what a page shows of other hosts is to go on showing.

interface UserAgentData {
  mobile: boolean;
  brands: { brand: string; version: string }[];
}

/** The headers that isolate a page in this browser. */
function isolationHeaders(): Record<string, string> {
  const { userAgent, userAgentData } = navigator as WorkerNavigator & { userAgentData?: UserAgentData };
  const chromium = Number(userAgentData?.brands.find(({ brand }) => brand === "Chromium")?.version ?? 0);
  // Frames, pop-ups and what they say to the page stay as they are; pictures come without the visitor's cookies.
  if (chromium >= 137 && userAgentData?.mobile === false) {
    return { "Document-Isolation-Policy": "isolate-and-credentialless" };
  }
  const isFirefox = /Firefox/.test(userAgent) && !/Android/.test(userAgent);
  return {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": chromium >= 96 || isFirefox ? "credentialless" : "require-corp",
  };
}

/** Documents and workers are what isolation is decided for. */
export const isolatedDestinations: readonly string[] = [
  "document",
  "iframe",
  "frame",
  "worker",
  "sharedworker",
];

/** `response`, of a document or worker, with the headers of isolation; unchanged if the host has its own. */
export function isolate(response: Response): Response {
  const policies = ["Cross-Origin-Embedder-Policy", "Document-Isolation-Policy"];
  // An opaque one cannot be rebuilt.
  if (response.status === 0 || policies.some((name) => response.headers.has(name))) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(isolationHeaders())) headers.set(name, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

/**
 * Fetches a picture, style or script of another host that isolation would block, as a shared resource (CORS) if the host
 * allows it. Undefined if `request` needs no such fetch.
 */
export function fetchShared(request: Request): Promise<Response> | undefined {
  const isOthers = request.mode === "no-cors" && new URL(request.url).origin !== location.origin;
  if (!isOthers || request.method !== "GET") return undefined;
  if (isolationHeaders()["Cross-Origin-Embedder-Policy"] !== "require-corp") return undefined;
  return fetch(request.url, { mode: "cors", credentials: "omit" }).catch(() => fetch(request));
}
