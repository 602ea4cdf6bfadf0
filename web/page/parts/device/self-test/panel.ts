// The part of the panel that runs the self-test and shows its report.
import { explainEnvironment, loadModel, type Variant } from "../../../../src/client/index.js";
import { release } from "../../../../src/shared/release.js";
import { variants } from "../../../../src/shared/types.js";
import { hideKeepingFocus, plainButton, setEnabled } from "../../../dom/buttons.js";
import { make } from "../../../dom/make.js";
import { phrase } from "../../../language/device.js";
import { keepTranslated, setTranslatedText } from "../../../language/keep-translated.js";
import { whyInFull } from "../../../language/why.js";
import { isAbort } from "../../../state/errors.js";
import { onChange, type PageState } from "../../../state/page-state.js";
import * as expected from "./expected.js";
import { bugsOf, hasPassed, reportOf, selfTest, type Check } from "./run.js";

/** More threads find no other errors, and they slow small models down. */
const mostThreads = 4;

/** The builds of the engine that this browser runs. */
async function runnable(): Promise<Variant[]> {
  const { threads, relaxedSimd } = await explainEnvironment();
  return variants.filter(
    (name) => (threads.has || !name.startsWith("threads")) && (relaxedSimd.has || !name.endsWith("relaxed")),
  );
}

export class SelfTestPanel {
  private readonly start = plainButton("", () => void this.run());
  private readonly copy = plainButton("", () => void this.copyReport());
  private readonly status = make("p", { className: "quiet", role: "status" });
  private readonly advice = make("p", { hidden: true });
  private readonly report = make("pre", {
    id: "self-test-report",
    role: "region",
    tabIndex: 0, // so that the keyboard can scroll it
    hidden: true,
  });
  private running: AbortController | undefined;

  private readonly state: PageState;

  constructor(place: HTMLElement, state: PageState) {
    this.state = state;
    setTranslatedText(this.start, () => phrase("test"));
    setTranslatedText(this.copy, () => phrase("copyReport"));
    setTranslatedText(this.status, () => phrase("testHelp"));
    this.copy.hidden = true;
    keepTranslated(this.report, () => (this.report.ariaLabel = phrase("report")));
    const row = make("div", { className: "row" }, this.start, this.copy, this.status);
    place.append(row, this.advice, this.report);
    this.showRest();
    onChange(state.activity, ({ kind }) => {
      if (kind === "writing") this.stop(); // writing and the self-test would slow each other down
      this.showRest();
    });
  }

  stop(): void {
    this.running?.abort();
  }

  private async run(): Promise<void> {
    const { signal } = (this.running = new AbortController());
    this.showRest();
    this.advice.hidden = true;
    this.copy.hidden = true;
    this.report.classList.remove("bad");
    const checks: Check[] = [];
    try {
      const cores = (navigator as Partial<Navigator>).hardwareConcurrency;
      const threads = Math.max(1, Math.min(mostThreads, cores ?? 1));
      const asked = { loadModel, expected, variants: await runnable(), threads, signal };
      for await (const check of selfTest(asked)) {
        checks.push(check);
        setTranslatedText(this.status, () => phrase("testing", { count: checks.length }));
        this.report.textContent = reportOf(checks, { browser: navigator.userAgent, release, cores });
        this.report.hidden = false;
      }
      this.conclude(checks);
    } catch (error) {
      hideKeepingFocus(this.report, this.start); // a partial report is not shown
      const wasStopped = signal.aborted || isAbort(error);
      setTranslatedText(this.status, () =>
        wasStopped ? phrase("testInterrupted") : phrase("notTested", { why: whyInFull(error) }),
      );
    } finally {
      this.running = undefined;
      this.showRest();
    }
  }

  private showRest(): void {
    setEnabled(this.start, this.running === undefined && this.state.activity.peek().kind === "idle");
  }

  private conclude(checks: readonly Check[]): void {
    this.copy.hidden = false;
    const failed = checks.filter((check) => !hasPassed(check)).length;
    if (failed === 0) {
      setTranslatedText(this.status, () => phrase("passed", { count: checks.length }));
      return;
    }
    setTranslatedText(this.status, () => phrase("failed", { failed, count: checks.length }));
    const { name, address } = bugsOf(navigator.userAgent);
    const link = make("a", { href: address, rel: "noreferrer" });
    keepTranslated(this.advice, () => {
      link.textContent = phrase("bugs", { name });
      this.advice.replaceChildren(`${phrase("likelyBug")} `, link);
    });
    this.advice.hidden = false;
    this.report.classList.add("bad");
  }

  private async copyReport(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.report.textContent);
      setTranslatedText(this.status, () => phrase("reportCopied"));
    } catch {
      // Pages without TLS have no clipboard, and a browser can refuse it.
      getSelection()?.selectAllChildren(this.report);
      setTranslatedText(this.status, () => phrase("copyReportYourself"));
    }
  }
}
