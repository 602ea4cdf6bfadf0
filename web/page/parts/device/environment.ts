// What the browser and host support, and what would enable the rest. This explains why the page may be slow.
import type { Environment } from "../../../src/client/index.js";
import { make } from "../../dom/make.js";
import { phrase } from "../../language/device.js";

const parts = ["simd", "relaxedSimd", "isolation", "threads", "storage", "memory"] as const;

function itemFor(label: string, { has, reason, remedy }: Environment[keyof Environment]): HTMLElement {
  const name = make("strong", {}, phrase(has ? "yes" : "no", { name: label }));
  const change = remedy === null ? [] : [` ${phrase("remedy")}`, make("pre", {}, remedy)];
  return make("li", {}, name, ` ${reason}`, ...change);
}

/** A list of what the browser supports and what it lacks. */
export function listOf(environment: Environment): HTMLUListElement {
  const items = parts.map((part) => itemFor(phrase(`has.${part}`), environment[part]));
  return make("ul", { id: "environment-list" }, ...items);
}
