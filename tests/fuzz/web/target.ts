// A fuzz target in TypeScript is tests/fuzz/web/NAME_fuzz.ts, which exports `target`. `npm run fuzz -- NAME` bundles
// it, and runs it in a separate Node.js process: fast-check draws each input from `arbitrary` and passes it to `check`.
// A failing input is shrunk and printed; add it to `examples`, which every run tries first.
import type { Arbitrary } from "fast-check";

export interface FuzzTarget<Input> {
  /** Draws inputs. Mix valid ones with damaged ones, because noise alone is refused at once. */
  arbitrary: Arbitrary<Input>;
  /** Inputs that every run begins with: those that failed once, and those that random ones rarely reach. */
  examples?: readonly Input[];
  /** Throws if a condition that must hold does not. A promise must settle within 20 s. */
  check(input: Input): void | Promise<void>;
  /** Called once before the first input: it may start a browser or a server. */
  start?(): void | Promise<void>;
  /** Called once after the last input. */
  stop?(): Promise<void>;
}

/** Gives `target` its type of input, by what `arbitrary` draws. */
export const fuzzTarget = <Input>(target: FuzzTarget<Input>): FuzzTarget<Input> => target;
