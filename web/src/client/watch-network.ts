/** Calls `tell` each time the network comes back. Returns a function that ends this. Node.js has no such event. */
export function watchNetwork(tell: () => void): () => void {
  const page = globalThis as Partial<typeof globalThis>;
  page.addEventListener?.("online", tell);
  return () => page.removeEventListener?.("online", tell);
}
