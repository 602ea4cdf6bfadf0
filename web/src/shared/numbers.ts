// Formats numbers in a language.

const formats = new Map<string, Intl.NumberFormat>();

/** Returns a cached format, because creating one is slow. */
export function formatIn(language: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify([language, options]);
  const format = formats.get(key) ?? new Intl.NumberFormat(language, { useGrouping: "min2", ...options });
  formats.set(key, format);
  return format;
}
