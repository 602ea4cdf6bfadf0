// Values that are created on first use.

/** Returns a function that calls `make` once and returns its value each time. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
