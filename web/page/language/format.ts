// Formats the time left, in the page's language.
import { phrase } from "./start.js";

/** The approximate time until a download ends, in tens of seconds or in minutes. */
export const formatLeft = (seconds: number): string =>
  seconds < 90
    ? phrase("seconds", { value: Math.ceil(seconds / 10) * 10 })
    : phrase("minutes", { count: Math.round(seconds / 60) });
