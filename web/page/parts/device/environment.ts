// What the browser and host support, and what would enable the rest. This explains why the page may be slow.
import type { Environment } from "../../../src/client/index.js";
import { phrase } from "../../language/device.js";

const parts = ["simd", "relaxedSimd", "isolation", "threads", "storage", "memory"] as const;

function itemFor(label: string, { has, reason, remedy }: Environment[keyof Environment]): HTMLElement {
  const item = document.createElement("li");
  const name = document.createElement("strong");
  name.textContent = phrase(has ? "yes" : "no", { name: label });
  item.append(name, ` ${reason}`);
  if (remedy !== null) {
    const change = document.createElement("pre");
    change.textContent = remedy;
    item.append(` ${phrase("remedy")}`, change);
  }
  return item;
}

/** A list of what the browser supports and what it lacks. */
export function listOf(environment: Environment): HTMLUListElement {
  const list = document.createElement("ul");
  list.id = "environment-list";
  list.append(...parts.map((part) => itemFor(phrase(`has.${part}`), environment[part])));
  return list;
}
