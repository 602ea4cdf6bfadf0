// Formats times and rates in the page's language.
import { formatNumber } from "./numbers.js";
import { phrase } from "./start.js";

export const formatMs = (ms: number): string =>
  ms < 1000 ? phrase("ms", { value: ms }) : phrase("seconds", { value: formatNumber(ms / 1000, 1, 1) });

export const formatRate = (tokensPerSecond: number): string =>
  phrase("rate", {
    value: formatNumber(tokensPerSecond, tokensPerSecond < 10 ? 1 : 0, tokensPerSecond < 10 ? 1 : 0),
  });

/** The approximate time until a download ends, in tens of seconds or in minutes. */
export const formatLeft = (seconds: number): string =>
  seconds < 90
    ? phrase("seconds", { value: Math.ceil(seconds / 10) * 10 })
    : phrase("minutes", { count: Math.round(seconds / 60) });
