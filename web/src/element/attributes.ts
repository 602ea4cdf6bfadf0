// Options that stand in attributes: max-new-tokens is maxNewTokens.
import type { GenerateCall, LoadOptions } from "../client/index.js";
import { numberOptionNames } from "../shared/number-options.js";

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Those that say how the model is loaded: a change of one wants another model. */
export const loadAttributes = ["model", "threads", "variant", "kv", "base-url"];

/** What is not there, or is no number, is for loadModel and generate to judge. */
function numberIn(element: Element, name: string): number | undefined {
  const text = element.getAttribute(kebab(name));
  return text === null ? undefined : Number(text);
}

export function readLoadOptions(element: Element): LoadOptions {
  const text = (name: string) => element.getAttribute(name) ?? undefined;
  return {
    threads: numberIn(element, "threads"),
    variant: text("variant") as LoadOptions["variant"],
    kv: text("kv") as LoadOptions["kv"],
    baseUrl: text("base-url"),
  };
}

export function readCall(element: Element): GenerateCall {
  const call: GenerateCall = { stop: element.getAttribute("stop") };
  for (const name of numberOptionNames) call[name] = numberIn(element, name);
  return call;
}
