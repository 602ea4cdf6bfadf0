// When a host that sends a client away wants it back.

/** In milliseconds; undefined where the host asks for nothing. A date counts from the host's own, as clocks differ. */
export function retryAfter({ headers }: Response): number | undefined {
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}

/** What to do about an answer that has no other advice. */
const usualAdvice: Readonly<Record<number, string>> = {
  401: "set the option headers or credentials",
  429: "try again later",
};

const units = [
  ["hours", 3600],
  ["minutes", 60],
  ["seconds", 1],
] as const;

/** Advice about an error response, as the end of a sentence; "" without advice. */
export function adviceOn(response: Response): string {
  const seconds = (retryAfter(response) ?? 0) / 1000;
  if (seconds === 0) {
    const usual = usualAdvice[response.status];
    return usual === undefined ? "" : `: ${usual}`;
  }
  const [name, size] = units.find((unit) => seconds >= 2 * unit[1]) ?? units[2];
  return `: try again in ${Math.ceil(seconds / size)} ${name}`;
}
