// Pages with the elements in them, in every browser.
import type { Gpt2Autocomplete, Gpt2Writer } from "../../web/src/element/classes.js";
import type { Source, Tab } from "./tab.js";

/** Prepares the page, and returns what page functions of these tests use. */
async function setUp(body: string) {
  document.body.innerHTML = body;
  /** Types and texts of the elements' events. */
  const heard: [string, string | undefined][] = [];
  for (const name of ["gpt2-done", "gpt2-error", "gpt2-accept"])
    document.addEventListener(name, (event) => {
      const { text, error } = (event as CustomEvent<{ text?: string; error?: Error }>).detail;
      heard.push([name, text ?? error?.message]);
    });
  const warned: string[] = [];
  console.warn = (...all: unknown[]) => void warned.push(all.join(" "));
  const module = "/gpt2-element.js";
  await import(module);
  const element = document.querySelector("gpt2-autocomplete, gpt2-writer");
  const field = document.querySelector("#f") as HTMLTextAreaElement;
  const shadow = (selector: string) => element?.shadowRoot?.querySelector(selector) as HTMLElement;
  const ghost = () => shadow(".ghost").textContent;
  const frames = async () => {
    for (let i = 0; i < 3; ++i) await new Promise(requestAnimationFrame);
  };
  const until = async (holds: () => boolean) => {
    for (const end = Date.now() + 55_000; !holds(); await new Promise((soon) => setTimeout(soon, 20)))
      if (Date.now() > end)
        throw new Error(`waited in vain for ${holds.toString()}: ${JSON.stringify(heard)}`);
  };
  /** The user replaces the field's text. */
  const write = (text: string) => {
    field.focus();
    field.setRangeText(text, 0, field.value.length, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
  };
  /** The suggestion after the user has written `text`. */
  const suggest = async (text = "One day, a little girl") => {
    write(text);
    await until(() => ghost() !== "");
    return ghost();
  };
  const form = document.querySelector("form") as HTMLFormElement;
  const autocomplete = element as Gpt2Autocomplete; // the page's first element is one of the two
  const writer = element as Gpt2Writer;
  return { autocomplete, writer, field, form, heard, warned, shadow, ghost, until, frames, write, suggest };
}
export type Given = Awaited<ReturnType<typeof setUp>>;

const model = `model="/models/demo/" threads="1"`;
export const suggesting = (attributes = "") =>
  `<form><textarea id="f" rows="4" cols="60" ${attributes}></textarea></form>
   <gpt2-autocomplete for="f" ${model} delay="10" max-new-tokens="4"></gpt2-autocomplete>`;
export const inLine = (attributes = "") =>
  suggesting(attributes).replace(/<textarea (.*)><\/textarea>/, "<input $1>");

/** A page of a tab that has the elements. */
export class ElementsPage {
  private readonly tab: Tab;
  private readonly blank: () => string;

  /** `blank` returns the address of an empty page. */
  constructor(tab: Tab, blank: () => string) {
    this.tab = tab;
    this.blank = blank;
  }

  async open(body: string): Promise<void> {
    await this.tab.open(this.blank());
    const given: Source<Given> = `(${setUp.toString()})(${JSON.stringify(body)})`;
    await this.tab.runWith(given, (all) => void Object.assign(globalThis, { given: all }));
  }
  run<T, A>(use: (given: Given, argument: A) => T | Promise<T>, argument?: A): Promise<T> {
    const given: Source<Given> = "globalThis.given";
    return this.tab.runWith(given, use, argument);
  }
  value(): Promise<string> {
    return this.run(({ field }) => field.value);
  }
}
