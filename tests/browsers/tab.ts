// Groups of tests in several browsers. What runs in a page is a function, which gets its argument as JSON.
import { test } from "@playwright/test";
import type * as Gpt2 from "../../web/src/client/index.js";
import { within, type Browser } from "./browser.js";
import type { Case } from "./cases.js";
import { until } from "./until.js";

const patienceMs = 60_000;
/** A time that is longer than any pause of a load in these tests. */
const hangMs = 15_000;
class HangError extends Error {}

/** The progress of a load that Tab.withModule started, of the project's page, or of its self-test; "" if none runs. */
const loadingState = `(async () => {
  const shown = document.getElementById("loading");
  const tested = document.querySelector(".self-test [role=status]")?.textContent ?? "";
  const loading = globalThis.stateOfLoading || (shown?.checkVisibility() ? shown.innerText : "");
  return loading + (/^(Passed|Failed|The test could)/.test(tested) ? "" : tested);
})()`;

/** The module, whose loads keep their progress for `loadingState`. */
const watchedModule: Source<typeof Gpt2> = `import("/gpt2.js").then((gpt2) => ({
  ...gpt2,
  loadModel(source, options = {}) {
    const onProgress = (progress) => {
      const { stage, loadedBytes } = progress;
      globalThis.stateOfLoading = stage === "ready" ? "" : stage + loadedBytes;
      options.onProgress?.(progress);
    };
    return gpt2.loadModel(source, { ...options, onProgress }).finally(() => (globalThis.stateOfLoading = ""));
  },
}))`;

const asJson = (value: unknown) => (value === undefined ? "undefined" : JSON.stringify(value));

/** The source of an expression with a value of type G. */
export type Source<G> = string & { value?: G };

/** One browser and the page in it. */
export class Tab {
  private readonly current: () => Browser;
  private readonly mostHangs: number;
  private hangs = 0;

  constructor(current: () => Browser, mostHangs: number) {
    this.current = current;
    this.mostHangs = mostHangs;
  }

  open(url: string): Promise<void> {
    return this.current().open(url);
  }
  leaveAndReturn(url: string): Promise<void> {
    return this.current().leaveAndReturn(url);
  }
  press(...keys: string[]): Promise<void> {
    return this.current().press(...keys);
  }

  /** Runs `use` in the page, and returns its result. */
  run<T, A>(use: (argument: A) => T | Promise<T>, argument?: A): Promise<T> {
    return this.evaluate(`(${use.toString()})(${asJson(argument)})`);
  }

  /** Runs `use` in the page with the value of the expression `given`, and returns its result. */
  runWith<G, T, A>(
    given: Source<G>,
    use: (given: G, argument: A) => T | Promise<T>,
    argument?: A,
  ): Promise<T> {
    return this.evaluate(`(${use.toString()})(await ${given}, ${asJson(argument)})`);
  }
  /** `runWith` the module of the page's host. */
  withModule<T, A>(use: (gpt2: typeof Gpt2, argument: A) => Promise<T>, argument?: A): Promise<T> {
    return this.runWith(watchedModule, use, argument);
  }

  /** Waits until a condition holds in a page that may be reloaded meanwhile. */
  until<A>(holds: (argument: A) => unknown, argument?: A): Promise<void> {
    return until(this.current(), `Boolean((${holds.toString()})(${asJson(argument)}))`);
  }

  /** The result of `attempt`, which includes a load; repeats it after a hang (see `mostHangs` in cases.ts). */
  async repeatHangs<T>(attempt: () => Promise<T>): Promise<T> {
    while (this.hangs < this.mostHangs) {
      const watch = new AbortController();
      const attempts = [attempt(), this.untilHang(watch.signal)];
      for (const one of attempts) one.catch(() => undefined); // the loser of the race
      try {
        return await Promise.race(attempts);
      } catch (error) {
        if (!(error instanceof HangError)) throw error;
        this.hangs += 1;
        console.log(`${this.current().name}: ${this.hangs} loads repeated`);
      } finally {
        watch.abort();
      }
    }
    return attempt();
  }

  private async evaluate<T>(expression: string): Promise<T> {
    const { name } = this.current();
    const answer = this.current().evaluate(`(async () => JSON.stringify((await ${expression}) ?? null))()`);
    return JSON.parse(await within(patienceMs, `the test in ${name}`, answer)) as T;
  }

  /** Rejects when a load in the page makes no progress for `hangMs`. */
  private async untilHang(signal: AbortSignal): Promise<never> {
    let last = "";
    for (let since = performance.now(); ; await new Promise((later) => setTimeout(later, 500))) {
      signal.throwIfAborted();
      const state = await this.current()
        .evaluate(loadingState)
        .catch(() => "");
      if (state === "" || state !== last) since = performance.now();
      last = state;
      if (performance.now() - since > hangMs) throw new HangError();
    }
  }
}

/** The same tests in each browser of `which`. */
export function inBrowsers(which: readonly Case[], tests: (tab: Tab, one: Case) => void): void {
  for (const one of which) {
    test.describe.serial(one.name, () => {
      let browser: Browser;
      test.beforeAll(async () => void (browser = await one.launch()));
      test.afterAll(() => browser.close());
      tests(new Tab(() => browser, one.mostHangs), one);
    });
  }
}
