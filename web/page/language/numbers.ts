// Formats numbers in the page's language.
import { formatIn } from "../../src/shared/numbers.js";
import { currentLanguage } from "./translation.js";

/** A number in a format of Intl. */
export const formatOf = (options: Intl.NumberFormatOptions): Intl.NumberFormat =>
  formatIn(currentLanguage.peek().language, options);

/** A number with at most `most` digits after the decimal point, and at least `least`. */
export const formatNumber = (value: number, most = 0, least = 0): string =>
  formatOf({ maximumFractionDigits: Math.max(most, least), minimumFractionDigits: least }).format(value);

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
