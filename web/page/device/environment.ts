// What this browser and host give the page, and what would bring the rest: which says why it is slow.
import type { Environment } from "../../src/client/index.js";

const labels: Readonly<Record<keyof Environment, string>> = {
  simd: "SIMD",
  relaxedSimd: "Relaxed SIMD",
  isolation: "Isolation",
  threads: "Threads",
  storage: "Storage",
  memory: "Memory",
};

function itemFor(label: string, { has, reason, remedy }: Environment[keyof Environment]): HTMLElement {
  const item = document.createElement("li");
  const name = document.createElement("strong");
  name.textContent = `${label}: ${has ? "yes" : "no"}.`;
  item.append(name, ` ${reason}`);
  if (remedy !== null) {
    const change = document.createElement("pre");
    change.textContent = remedy;
    item.append(" What would help:", change);
  }
  return item;
}

/** A list of what there is and what is missing. */
export function listOf(environment: Environment): HTMLUListElement {
  const list = document.createElement("ul");
  list.id = "environment-list";
  const names = Object.keys(labels) as (keyof Environment)[];
  list.append(...names.map((name) => itemFor(labels[name], environment[name])));
  return list;
}
