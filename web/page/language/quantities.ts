// Formats what is known of models and tokens, in the page's language. The first paint needs none of it.
import { percentIn, shareIn } from "../../src/shared/numbers.js";
import { phrase } from "./models.js";
import { formatNumber, formatOf } from "./numbers.js";
import { phrase as phraseOfStart } from "./start.js";
import { currentLanguage } from "./translation.js";

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

/** Millions and billions, in words: "124 million". */
export const formatLarge = (count: number): string =>
  formatOf({
    notation: "compact",
    compactDisplay: "long",
    maximumFractionDigits: count >= 1e9 ? 2 : count < 1e7 ? 1 : 0,
  }).format(count);

export const formatMs = (ms: number): string =>
  ms < 1000
    ? phrase("ms", { value: ms })
    : phraseOfStart("seconds", { value: formatNumber(ms / 1000, 1, 1) });

export const formatRate = (tokensPerSecond: number): string =>
  phrase("rate", {
    value: formatNumber(tokensPerSecond, tokensPerSecond < 10 ? 1 : 0, tokensPerSecond < 10 ? 1 : 0),
  });
