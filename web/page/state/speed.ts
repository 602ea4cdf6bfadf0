// How fast the model writes: in the line of status, and for whoever else shows it.
import { elements as ui } from "../dom/elements.js";
import { formatRate } from "../language/format.js";
import { put } from "../language/told.js";

const watching: ((sentence: () => string) => void)[] = [];
let sentence = () => "";

/** Shows so many tokens per second; undefined: it is not known yet. */
export function showSpeed(tokensPerSecond: number | undefined): void {
  sentence = () => (tokensPerSecond === undefined ? "" : formatRate(tokensPerSecond));
  put(ui.speed, sentence);
  if (tokensPerSecond !== undefined) for (const tell of watching) tell(sentence);
}

/** Calls `listener` with the speed in words, where it is known already, and whenever it is told. */
export function onSpeed(listener: (sentence: () => string) => void): void {
  watching.push(listener);
  if (ui.speed.textContent) listener(sentence);
}
