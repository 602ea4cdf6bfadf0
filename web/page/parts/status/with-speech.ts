// Loads the page's speech when there is something to say, so that the first paint does without it.
import type { Speech } from "./speech.js";

/** Calls `use` with the speech, in the order of the calls. If speech.ts cannot be loaded, nothing is said. */
export function withSpeech(use: (speech: Speech) => void): void {
  import("./speech.js").then(
    ({ speech }) => use(speech),
    () => undefined,
  );
}

/** Reads aloud what the model writes, while it writes. */
export const voice = {
  add: (text: string) => withSpeech((speech) => speech.add(text)),
  finish: () => withSpeech((speech) => speech.finish()),
  hush: () => withSpeech((speech) => speech.hush()),
};
