// Formats past times in the page's language.
import { currentLanguage } from "./translation.js";

const units = [
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** An earlier time is shown as a date. */
const mostDays = 30;

/** "3 hours ago", "yesterday", "now"; a date if that is long ago. */
export function formatAgo(time: number, now = Date.now()): string {
  const { language } = currentLanguage.peek();
  const ms = Math.max(0, now - time); // the clock may have been set back since
  if (ms > mostDays * 86_400_000)
    return new Intl.DateTimeFormat(language, { dateStyle: "medium" }).format(time);
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const [unit, size] = units.find(([, least]) => ms >= least) ?? ["second", Infinity];
  return format.format(-Math.floor(ms / size) || 0, unit);
}
