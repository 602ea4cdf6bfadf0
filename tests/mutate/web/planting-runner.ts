// Runs each test of a file many times, each time with another of StrykerJS's faults planted. Switching a fault on in the
// same worker takes milliseconds; a separate run takes a second. run.mjs chooses the faults, and reads the results from
// a journal, line by line. So a worker that hangs or dies costs one fault and not the rest.
import { appendFileSync, readFileSync } from "node:fs";
import { vi } from "vitest";
import { VitestTestRunner } from "vitest/runners";
import type { RunnerTestCase as Test, RunnerTestFile, SerializedConfig } from "vitest";

/** The task of a run. run.mjs writes it, and names its file in the environment. */
export interface Plan {
  /** `alone` runs all tests with one fault, which is planted before they are imported. */
  kind: "measure" | "plant" | "alone";
  journal: string;
  /** Faults for each test, by its id. */
  tests?: Record<string, string[]>;
  /** How often each test reached each fault, without a planted fault. */
  hits?: Hits;
  /** Each fault with the test files that reach it. */
  alone?: { mutant: string; files: string[] }[];
  fromTheStart?: string;
}

export type Hits = Record<string, Record<string, number>>;

/** The faults that a file's tests reach. `failed` are the tests that fail without a fault, or when they run again. */
export interface Measured {
  file: string;
  atImport: Record<string, number>;
  perTest: Hits;
  failed: string[];
}

/** A line of the journal. `spoiled`: a test fails without a fault, because an earlier fault has left state behind. */
export type Outcome =
  | { outcome: "planted"; mutant: string; id: string }
  | { outcome: "killed" | "survived"; mutant: string; id: string; test: string; why?: string }
  | { outcome: "spoiled"; test: string };

/** The variables that the instrumented sources read, under StrykerJS's names. */
interface Switches {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage: { static: Record<string, number>; perTest: Hits };
}

/** One run of a test. */
type Try = { kind: "clean" | "none" } | { kind: "planted"; mutant: string };

const once = "once "; // before the id of a test that is run for the first time
const mostAlone = 10_000; // ms that a test may take
const leastHits = 10_000; // before a loop with a fault counts as endless
const mostHitsAlone = 1_000_000;
const { setTimeout: later, clearTimeout: never } = globalThis; // tests replace them by fakes
const now = performance.now.bind(performance);

const switches: Switches = { mutantCoverage: { static: {}, perTest: {} } };
Object.assign(globalThis, { __stryker__: switches });

export default class PlantingRunner extends VitestTestRunner {
  readonly #plan: Plan;
  readonly #seconds = new Map<string, number>();
  readonly #failed = new Set<string>();
  readonly #settled = new Set<string>();
  readonly #waiting = new Map<string, string[]>();
  #try: Try = { kind: "clean" };
  #isSpoiled = false;

  constructor(config: SerializedConfig) {
    super(config);
    this.#plan = JSON.parse(readFileSync(process.env["MUTATION_PLAN"] ?? "", "utf8")) as Plan;
    switches.activeMutant = this.#plan.fromTheStart;
    if (this.#plan.kind === "alone") Object.assign(switches, { hitCount: 0, hitLimit: mostHitsAlone });
  }

  override async onBeforeRunTask(test: Test): Promise<void> {
    await super.onBeforeRunTask(test);
    // "measure" runs each test twice: a test that fails the second time cannot run with faults here. "plant" runs it
    // first without a fault, and then with each fault. After each killed fault it runs without one again, which shows
    // whether that fault has left state behind.
    if (this.#plan.kind === "measure") test.repeats = 1;
    if (this.#plan.kind === "plant") test.repeats = 2 * this.#mutantsOf(test).length;
  }

  override onBeforeTryTask(test: Test, { repeats = 0 } = {}): void {
    super.onBeforeTryTask(test);
    if (test.result) {
      test.result.state = "run";
      delete test.result.errors;
    }
    if (this.#plan.kind === "measure") switches.currentTestId = repeats === 0 ? `${once}${test.id}` : test.id;
    if (this.#plan.kind === "plant") this.#try = this.#next(test, repeats);
    if (this.#try.kind !== "planted") return;
    const { mutant } = this.#try;
    this.#write({ outcome: "planted", mutant, id: test.id });
    switches.activeMutant = mutant;
    switches.hitCount = 0;
    switches.hitLimit = Math.max(leastHits, 100 * (this.#plan.hits?.[test.id]?.[mutant] ?? 0));
  }

  async runTask(test: Test): Promise<void> {
    if (this.#try.kind === "none") return;
    const started = now();
    const usual = this.#seconds.get(test.id);
    const run = async () => VitestTestRunner.getTestFn(test)();
    if (this.#plan.kind === "alone") await within(mostAlone, run());
    else if (usual === undefined) await run();
    else await within(1500 + 10 * usual, run());
    if (usual === undefined) this.#seconds.set(test.id, now() - started);
  }

  onAfterRetryTask(test: Test): void {
    switches.activeMutant = this.#plan.fromTheStart;
    switches.currentTestId = undefined;
    const failed = test.result?.state === "fail";
    if (this.#try.kind === "clean" && failed) {
      this.#failed.add(test.id);
      this.#isSpoiled ||= this.#plan.kind === "plant";
      if (this.#isSpoiled) this.#write({ outcome: "spoiled", test: test.name });
    }
    if (this.#try.kind !== "planted") return;
    const { mutant } = this.#try;
    if (failed) {
      this.#settled.add(mutant);
      vi.useRealTimers();
    }
    const why = test.result?.errors?.[0]?.message.split("\n")[0];
    const outcome = failed ? "killed" : "survived";
    this.#write({ outcome, mutant, id: test.id, test: test.name, ...(why !== undefined && { why }) });
  }

  override async onAfterRunSuite(suite: RunnerTestFile): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (this.#plan.kind !== "measure" || !("filepath" in suite)) return;
    const { static: atImport, perTest } = switches.mutantCoverage;
    // Faults that only the first run of a test reaches are in code that it imports, which the second run finds loaded.
    for (const id of Object.keys(perTest).filter((id) => id.startsWith(once))) {
      for (const [mutant, hits] of Object.entries(perTest[id] ?? {}))
        if (!(perTest[id.slice(once.length)]?.[mutant] ?? 0)) atImport[mutant] = hits;
    }
    const repeated = Object.fromEntries(Object.entries(perTest).filter(([id]) => !id.startsWith(once)));
    const measured: Measured = {
      file: suite.filepath,
      atImport,
      perTest: repeated,
      failed: [...this.#failed],
    };
    appendFileSync(this.#plan.journal, `${JSON.stringify(measured)}\n`);
  }

  #mutantsOf(test: Test): string[] {
    if (this.#isSpoiled) return [];
    return (this.#plan.tests?.[test.id] ?? []).filter((mutant) => !this.#settled.has(mutant));
  }

  #next(test: Test, repeats: number): Try {
    if (repeats === 0) return { kind: "clean" };
    if (this.#isSpoiled) return { kind: "none" };
    const previous = this.#try;
    if (repeats % 2 === 0) {
      const wasNoticed = previous.kind === "planted" && this.#settled.has(previous.mutant);
      return { kind: wasNoticed ? "clean" : "none" };
    }
    let queue = this.#waiting.get(test.id);
    if (queue === undefined) this.#waiting.set(test.id, (queue = this.#mutantsOf(test)));
    const mutant = queue.shift();
    return mutant === undefined ? { kind: "none" } : { kind: "planted", mutant };
  }

  #write(outcome: Outcome): void {
    appendFileSync(this.#plan.journal, `${JSON.stringify(outcome)}\n`);
  }
}

async function within(milliseconds: number, run: Promise<unknown>): Promise<void> {
  let timeout: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timeout = later(() => reject(new Error("it took too long")), milliseconds);
  });
  try {
    await Promise.race([run, late]);
  } finally {
    never(timeout);
  }
}
