// The progress of a conversion, on standard error: in one line of a terminal, else now and then.
import type { ReadOfInputs } from "../model/sources/model-source.js";
import { formatBytes } from "../shared/format-bytes.js";
import { visible } from "./messages.js";

/** In milliseconds. */
const onTerminalMs = 200;
const elsewhereMs = 30_000;

const clear = "\r\u001b[K";

function timeLeft(seconds: number): string {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  return seconds < 6000 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}

export class Progress {
  private readonly isTerminal = process.stderr.isTTY;
  private shown = this.isTerminal ? 0 : performance.now();
  /** When the first bytes arrived, and how many: those of an earlier run took no time. */
  private start: { at: number; bytes: number } | undefined;
  private readonly what: string;

  constructor(what: string) {
    this.what = what;
  }

  show({ readBytes, totalBytes }: ReadOfInputs): void {
    const now = performance.now();
    this.start ??= { at: now, bytes: readBytes };
    if (now - this.shown < (this.isTerminal ? onTerminalMs : elsewhereMs)) return;
    this.shown = now;
    const rate = (readBytes - this.start.bytes) / Math.max((now - this.start.at) / 1000, 0.001);
    const percent = Math.floor((100 * readBytes) / (totalBytes ?? readBytes));
    const of = totalBytes === undefined ? "" : ` of ${formatBytes(totalBytes)} (${percent} %)`;
    const parts = [formatBytes(readBytes) + of];
    if (rate > 0) parts.push(`${formatBytes(rate)}/s`);
    if (rate > 0 && totalBytes !== undefined) parts.push(`${timeLeft((totalBytes - readBytes) / rate)} left`);
    this.write(parts.join(", "));
  }

  /** Reports why the host is asked again; null once bytes arrive. */
  retry(reason: string | null): void {
    if (reason !== null) this.write(`${reason}; trying again`);
  }

  end(): void {
    if (this.isTerminal) process.stderr.write(clear);
  }

  private write(text: string): void {
    const line = visible(`${this.what}: ${text}`);
    process.stderr.write(this.isTerminal ? clear + line : `${line}\n`);
  }
}
