// The text beside the writer's button: the status, and the progress of the load.
import type { LoadProgress } from "../client/index.js";
import { make } from "./html-element.js";
import { fill, type ElementWords } from "./words.js";

export class StatusLine {
  readonly element: HTMLElement;
  private readonly status = make("span", { part: "status", class: "status", role: "status" });
  /** Hidden from screen readers: it changes many times a second. */
  private readonly pace = make("span", { class: "pace", "aria-hidden": "true" });
  private readonly bar = make("progress", { part: "progress", max: "1" });
  private readonly words: ElementWords;
  /** Returns the status in the current language. */
  private said = () => "";

  constructor(words: ElementWords) {
    this.words = words;
    this.element = make("div", { class: "state" }, this.status, this.pace, this.bar);
  }

  say(text: () => string): void {
    this.said = text;
    this.status.classList.remove("failed");
    this.refresh();
  }

  /** Removes what showProgress shows, if it shows something. */
  endProgress(): void {
    if (!this.bar.classList.contains("busy")) return;
    this.bar.classList.remove("busy");
    this.pace.textContent = "";
    this.say(() => "");
  }

  fail(error: unknown): void {
    this.endProgress();
    this.say(() => this.words.ofError(error));
    this.status.classList.add("failed");
  }

  /** Shows the progress of the load. The caller shows what follows. */
  showProgress({ stage, loadedBytes, totalBytes, bytesPerSecond, secondsLeft }: LoadProgress): void {
    const { words, bar, pace } = this;
    const isLoading = stage !== "ready";
    const rate = () => ({ rate: words.size(bytesPerSecond), time: words.time(secondsLeft ?? 0) });
    const isPaced = isLoading && bytesPerSecond > 0 && Boolean(secondsLeft);
    pace.textContent = isPaced ? fill(words.get("pace"), rate()) : "";
    bar.classList.toggle("busy", isLoading);
    if (totalBytes > 0) bar.value = loadedBytes / totalBytes;
    else bar.removeAttribute("value");
    if (!isLoading) return;
    // Announced once: the bar shows the rest.
    if (totalBytes === 0) this.say(() => words.get("loading"));
    else this.say(() => fill(words.get("loadingSize"), { size: words.size(totalBytes) }));
  }

  /** Shows the status again after the words have changed. */
  refresh(): void {
    this.bar.setAttribute("aria-label", this.words.get("loading"));
    const now = this.said();
    if (this.status.textContent !== now) this.status.textContent = now;
  }
}
