// Tells an abort from a failure.

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
