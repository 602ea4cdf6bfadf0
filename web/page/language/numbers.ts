// Numbers as people of the page's language read them.
import { currentLanguage } from "./translation.js";

const formats = new Map<string, Intl.NumberFormat>();

/** Formats are costly to make: one of a kind, in each language. */
function formatOf(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const { language } = currentLanguage.peek();
  const key = JSON.stringify([language, options]);
  const format = formats.get(key) ?? new Intl.NumberFormat(language, { useGrouping: "min2", ...options });
  formats.set(key, format);
  return format;
}

/** With at most `most` digits behind the point, and at least `least`. */
export const formatNumber = (value: number, most = 0, least = 0): string =>
  formatOf({ maximumFractionDigits: Math.max(most, least), minimumFractionDigits: least }).format(value);

/** A share of one: "82%". */
export const formatShare = (share: number, digits = 0): string =>
  formatOf({ style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits }).format(share);

/** A share as one reads it, with more digits the smaller it is: "82%", "3.1%", "< 0.1%". */
export const percent = (share: number, digits = share < 0.1 ? 1 : 0): string =>
  share > 0 && share < 0.001 ? `< ${formatShare(0.001, 1)}` : formatShare(share, digits);

/** Names of languages by their codes: "English and German". */
export function formatLanguages(codes: readonly string[]): string {
  const names = new Intl.DisplayNames(currentLanguage.peek().language, { type: "language" });
  return new Intl.ListFormat(currentLanguage.peek().language).format(
    codes.map((code) => names.of(code) ?? code),
  );
}

/** With two digits at least: "12 kB", "1.3 MB", "213 MB", "4.3 GB". */
export function formatBytes(bytes: number): string {
  const [unit, size, digits] =
    bytes < 1e6
      ? (["kilobyte", 1e3, 0] as const)
      : bytes < 1e9
        ? (["megabyte", 1e6, bytes < 1e7 ? 1 : 0] as const)
        : (["gigabyte", 1e9, 1] as const);
  const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return formatOf({ style: "unit", unit, ...fraction }).format(bytes / size);
}

/** Millions and billions, in words: "124 million". */
export const formatLarge = (count: number): string =>
  formatOf({
    notation: "compact",
    compactDisplay: "long",
    maximumFractionDigits: count >= 1e9 ? 2 : count < 1e7 ? 1 : 0,
  }).format(count);
