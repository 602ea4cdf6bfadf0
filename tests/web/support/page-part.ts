// Mounts one part of the page alone: its own elements of index.html, and nothing else of it.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Elements } from "../../../web/page/dom/elements.js";
import { PageState } from "../../../web/page/state/page-state.js";

const html = readFileSync(resolve(import.meta.dirname, "../../../web/page/index.html"), "utf8");

/** Puts these elements of index.html into an empty document; an element inside another one stays there. */
export function mountMarkup<Name extends keyof Elements>(...names: Name[]): Pick<Elements, Name> {
  const page = document.createElement("div");
  page.innerHTML = /<body>(.*)<script type="module"/s.exec(html)?.[1] ?? "";
  const found = names.map((name) => {
    const id = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const element = page.querySelector(`#${id}`);
    if (!element) throw new Error(`index.html has no #${id}`);
    return [name, element] as const;
  });
  const outer = found.filter(
    ([, each]) => !found.some(([, other]) => other !== each && other.contains(each)),
  );
  document.body.replaceChildren(...outer.map(([, element]) => element));
  return Object.fromEntries(found) as unknown as Pick<Elements, Name>;
}

/** The state of a page that has no model and does nothing. */
export const makeState = (): PageState => new PageState({ source: "models/demo/", name: "demo" });

export const pressKey = (on: EventTarget, key: string, more: KeyboardEventInit = {}): boolean =>
  on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));

/** Whether a button is switched off, as `setEnabled` does it. */
export const isOff = (button: Element | null): boolean => button?.getAttribute("aria-disabled") === "true";

/** Waits for work that has started, such as a part that is fetched on first use. */
export const settle = (): Promise<void> => new Promise((later) => setTimeout(later));
