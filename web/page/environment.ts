// What this browser and host give the page, and what would bring the rest: which says why it is slow.
import { explainEnvironment, type Environment } from "../src/client/index.js";
import { elements as ui } from "./elements.js";

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

export async function showEnvironment(): Promise<void> {
  const environment = await explainEnvironment();
  const names = Object.keys(labels) as (keyof Environment)[];
  ui.environmentList.replaceChildren(...names.map((name) => itemFor(labels[name], environment[name])));
}
