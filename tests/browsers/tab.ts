// Groups of tests in several browsers. What runs in a page is a function, which gets its argument as JSON.
import { test } from "@playwright/test";
import type * as Gpt2 from "../../web/src/client/index.js";
import { LateError, within, type Browser } from "./browser.js";
import type { Case } from "./cases.js";

const patienceMs = 60_000;
/** WebKitGTK sometimes never answers what was asked in a page that it leaves meanwhile: `until` asks again. */
const answerMs = 10_000;

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

  get browser(): Browser {
    return this.current();
  }
  open(url: string): Promise<void> {
    return this.browser.open(url);
  }
  press(...keys: string[]): Promise<void> {
    return this.browser.press(...keys);
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
    const module: Source<typeof Gpt2> = `import("/gpt2.js")`;
    return this.runWith(module, use, argument);
  }

  /** Waits until a condition holds in a page that may be reloaded meanwhile. */
  async until<A>(holds: (argument: A) => unknown, argument?: A): Promise<void> {
    const condition = `(${holds.toString()})(${asJson(argument)})`;
    const ask = (expression: string) => this.browser.evaluate(`Promise.resolve(String(${expression}))`);
    for (const end = performance.now() + patienceMs; performance.now() < end;) {
      const answer = within(answerMs, condition, ask(`Boolean(${condition})`)).catch(() => "reloaded");
      if ((await answer) === "true") return;
      await new Promise((later) => setTimeout(later, 100));
    }
    const text = await ask("document.body.innerText").catch(String);
    throw new LateError(`never: ${condition} in a page that says: ${text}`);
  }

  /** The result of `attempt`, which includes a load; repeats it after a hang (see `mostHangs` in cases.ts). */
  async repeatHangs<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof LateError) || this.hangs === this.mostHangs) throw error;
      this.hangs += 1;
      console.log(`${this.browser.name}: ${this.hangs} loads repeated`);
      return this.repeatHangs(attempt);
    }
  }

  private async evaluate<T>(expression: string): Promise<T> {
    const { browser } = this;
    const answer = browser.evaluate(`(async () => JSON.stringify((await ${expression}) ?? null))()`);
    return JSON.parse(await within(patienceMs, `the test in ${browser.name}`, answer)) as T;
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
