// Models in a page, and the native engine to compare them with.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import type { Page } from "@playwright/test";
import type * as Gpt2 from "../../web/src/client/index.js";

export const root = resolve(import.meta.dirname, "../..");
export const demo = resolve(root, "web/models/demo");
export const prompt = "One day, a little girl named Lily found";

export const native = (...args: string[]) =>
  JSON.parse(
    execFileSync(resolve(root, "build/native/weights_tools/gpt2-weights"), args, { encoding: "utf8" }),
  );

/** Runs `use` in the page, which is open, with the module and `argument`. */
export function inPage<T, A>(
  page: Page,
  use: (gpt2: typeof Gpt2, argument: A) => Promise<T>,
  argument: A,
): Promise<T> {
  return page.evaluate(
    async ([source, value]) => {
      const gpt2: unknown = await import(new URL("gpt2.js", location.href).href);
      // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a function reaches the page as its source
      const body = new Function(`return (${source})`)() as (
        module: unknown,
        argument: unknown,
      ) => Promise<unknown>;
      return body(gpt2, value);
    },
    [use.toString(), argument] as const,
  ) as Promise<T>;
}

/** Runs `use` in a page, with the demo model, which is loaded with `load`. */
export async function withModel<T, A>(
  page: Page,
  load: Gpt2.LoadOptions,
  use: (model: Gpt2.Model, argument: A) => Promise<T>,
  argument: A,
): Promise<T> {
  await page.goto("./?model=none");
  return inPage(
    page,
    async ({ loadModel }, [options, source, value]) => {
      const model = await loadModel("models/demo/", options);
      // eslint-disable-next-line @typescript-eslint/no-implied-eval -- a function reaches the page as its source
      const body = new Function(`return (${source})`)() as typeof use;
      return body(model, value).finally(() => model.dispose());
    },
    [load, use.toString(), argument] as const,
  );
}
