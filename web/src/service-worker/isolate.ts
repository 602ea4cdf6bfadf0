// Adds cross-origin isolation, which threads require, if the host sends no headers for it. It uses the least strict mode that
// the browser supports, so that content from other hosts still works.

interface UserAgentData {
  mobile: boolean;
  brands: { brand: string; version: string }[];
}

/** The headers that isolate a page in this browser. */
function isolationHeaders(): Record<string, string> {
  const { userAgent, userAgentData } = navigator as WorkerNavigator & { userAgentData?: UserAgentData };
  const chromium = Number(userAgentData?.brands.find(({ brand }) => brand === "Chromium")?.version ?? 0);
  // Frames, pop-ups and their messages keep working; pictures are fetched without the visitor's cookies.
  if (chromium >= 137 && userAgentData?.mobile === false) {
    return { "Document-Isolation-Policy": "isolate-and-credentialless" };
  }
  const isFirefox = /Firefox/.test(userAgent) && !/Android/.test(userAgent);
  return {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": chromium >= 96 || isFirefox ? "credentialless" : "require-corp",
  };
}

/** Isolation applies to documents and workers. */
export const isolatedDestinations: readonly string[] = [
  "document",
  "iframe",
  "frame",
  "worker",
  "sharedworker",
];

/** `response`, for a document or worker, with the isolation headers; unchanged if the host sends its own. */
export function isolate(response: Response): Response {
  const policies = ["Cross-Origin-Embedder-Policy", "Document-Isolation-Policy"];
  // An opaque response cannot be rebuilt.
  if (response.status === 0 || policies.some((name) => response.headers.has(name))) return response;
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(isolationHeaders())) headers.set(name, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

/**
 * Fetches a picture, video, style or script of another host that isolation would block, as a shared resource (CORS) if
 * the host allows it. Undefined if `request` needs no such fetch.
 */
export function fetchShared(request: Request): Promise<Response> | undefined {
  const isOthers = request.mode === "no-cors" && new URL(request.url).origin !== location.origin;
  if (!isOthers || request.method !== "GET") return undefined;
  if (isolationHeaders()["Cross-Origin-Embedder-Policy"] !== "require-corp") return undefined;
  const range = request.headers.get("range"); // Safari plays a video only in the ranges that it requests
  const headers: HeadersInit = range === null ? {} : { range };
  return fetch(request.url, { mode: "cors", credentials: "omit", headers }).catch(() => fetch(request));
}
