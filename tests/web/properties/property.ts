// Runs a property with inputs that are the same each time. `FUZZ_RUNS=100000 npx vitest run -c tests/vitest.config.ts
// web/properties` draws so many others. fast-check prints the seed and the path of a failing input: FUZZ_SEED and FUZZ_PATH
// try it again. Add such an input to the examples of its property.
import * as fc from "fast-check";
import { test } from "vitest";

const { FUZZ_RUNS, FUZZ_SEED, FUZZ_PATH } = process.env;

/**
 * Declares a test that draws inputs of `check`, which throws if a condition does not hold.
 * @param name The condition, as a sentence.
 * @param options `examples` are inputs that every run begins with: those that failed once, and those that random ones
 *   rarely reach. `runs` is how many inputs `npm test` draws.
 */
export function property<Input>(
  name: string,
  arbitrary: fc.Arbitrary<Input>,
  check: (input: Input) => void | Promise<void>,
  { examples = [], runs = 200 }: { examples?: readonly Input[]; runs?: number } = {},
): void {
  const checked = fc.asyncProperty(arbitrary, async (input) => check(input));
  const seed = FUZZ_SEED ?? (FUZZ_RUNS === undefined ? "1" : undefined);
  test(name, { timeout: FUZZ_RUNS === undefined ? 60_000 : 24 * 3_600_000 }, () =>
    fc.assert(checked, {
      numRuns: Number(FUZZ_RUNS ?? runs),
      examples: examples.map((input): [Input] => [input]),
      timeout: 20_000,
      ...(seed === undefined ? {} : { seed: Number(seed) }),
      ...(FUZZ_PATH === undefined ? {} : { path: FUZZ_PATH }),
    }),
  );
}

/** Makes pauses below ten seconds a hundred times as short. Longer ones are limits, which stay. */
export function shortenPauses(): void {
  const { setTimeout } = globalThis;
  const shortened = (call: () => void, ms: number) => setTimeout(call, ms < 10_000 ? ms / 100 : ms);
  Object.assign(globalThis, { setTimeout: shortened });
}

/** What `action` gives; undefined if it throws an error of the class `Refusal`. */
export async function unlessRefused<T>(
  Refusal: new (...args: never[]) => Error,
  action: () => T | Promise<T>,
): Promise<T | undefined> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
