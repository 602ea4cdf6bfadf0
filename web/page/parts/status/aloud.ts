// The page's speech for what comes with the first paint: fetched when there is something to say.
import type { Speech } from "./speech.js";

/** Lets `use` say something, in the order of the calls. Where speech.ts does not come, nothing is said. */
export function aloud(use: (speech: Speech) => void): void {
  import("./speech.js").then(
    ({ speech }) => use(speech),
    () => undefined,
  );
}

/** What the model writes, said as it comes. */
export const voice = {
  add: (text: string) => aloud((speech) => speech.add(text)),
  finish: () => aloud((speech) => speech.finish()),
  hush: () => aloud((speech) => speech.hush()),
};
