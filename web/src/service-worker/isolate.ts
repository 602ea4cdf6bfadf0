// Cross-origin isolation where the host sends no headers for it, without which a page has no threads.

/** `response` with the headers of cross-origin isolation; unchanged if the host has its own. */
export function isolate(response: Response): Response {
  // An opaque one cannot be rebuilt.
  if (response.status === 0 || response.headers.has("Cross-Origin-Embedder-Policy")) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}
