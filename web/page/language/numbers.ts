// Formats numbers in the page's language.
import { formatIn, percentIn, shareIn } from "../../src/shared/numbers.js";
import { currentLanguage } from "./translation.js";

const formatOf = (options: Intl.NumberFormatOptions): Intl.NumberFormat =>
  formatIn(currentLanguage.peek().language, options);

/** A number with at most `most` digits after the decimal point, and at least `least`. */
export const formatNumber = (value: number, most = 0, least = 0): string =>
  formatOf({ maximumFractionDigits: Math.max(most, least), minimumFractionDigits: least }).format(value);

/** A share of one: "82%". */
export const formatShare = (share: number, digits?: number): string =>
  shareIn(currentLanguage.peek().language, share, digits);

/** A share of one, with more digits the smaller it is: "82%", "3.1%", "< 0.1%". */
export const percent = (share: number, digits?: number): string =>
  percentIn(currentLanguage.peek().language, share, digits);

/** Names of languages by their codes: "English and German". */
export function formatLanguages(codes: readonly string[]): string {
  const names = new Intl.DisplayNames(currentLanguage.peek().language, { type: "language" });
  return new Intl.ListFormat(currentLanguage.peek().language).format(
    codes.map((code) => names.of(code) ?? code),
  );
}

/** A size with at least two digits: "12 kB", "1.3 MB", "213 MB", "4.3 GB". */
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
