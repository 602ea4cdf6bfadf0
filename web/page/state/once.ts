// Values that are made when they are first wanted.

/** Gives what `make` gives, which it calls once. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
