// Formats numbers and shares in a language.

const formats = new Map<string, Intl.NumberFormat>();

/** Returns a cached format, because creating one is slow. */
export function formatIn(language: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify([language, options]);
  const format = formats.get(key) ?? new Intl.NumberFormat(language, { useGrouping: "min2", ...options });
  formats.set(key, format);
  return format;
}

/** A share of one: "82%". */
export const shareIn = (language: string, share: number, digits = 0): string =>
  formatIn(language, {
    style: "percent",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(share);

/** A share of one, with more digits the smaller it is: "82%", "3.1%", "< 0.1%". */
export const percentIn = (language: string, share: number, digits = share < 0.1 ? 1 : 0): string =>
  share > 0 && share < 0.001 ? `< ${shareIn(language, 0.001, 1)}` : shareIn(language, share, digits);
