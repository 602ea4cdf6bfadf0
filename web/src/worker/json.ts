// JSON for the engine: always valid UTF-8, even if a JavaScript string is not valid UTF-16.

/** In JSON.stringify's output every backslash begins an escape, and only lone surrogates are escaped as \udXXX. */
const escapes = /\\(?:ud[89a-f][0-9a-f]{2}|.)/g;

/** JSON of `value`; a lone surrogate becomes U+FFFD, as in every web API. */
export function toJson(value: unknown): string {
  return JSON.stringify(value).replace(escapes, (escape) => (escape.startsWith("\\ud") ? "\ufffd" : escape));
}
