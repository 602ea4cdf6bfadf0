// @vitest-environment happy-dom
// The side panel and the menu that opens it, in the page as index.html has it.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { beforeEach, expect, it, vi } from "vitest";

const html = readFileSync(resolve(import.meta.dirname, "../../../web/page/index.html"), "utf8");
const part = (selector: string) => document.querySelector<HTMLElement>(selector) ?? document.body;
const pressKey = (on: HTMLElement, key: string) =>
  on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));

async function open() {
  const { PageState } = await import("../../../web/page/state/page-state.js");
  const { offerMenu } = await import("../../../web/page/parts/bar/menu.js");
  const { offerPanel } = await import("../../../web/page/parts/panel/panel.js");
  const state = new PageState({ source: "models/demo/", name: "demo" });
  state.preset.value = () => "Wild";
  offerMenu();
  offerPanel(state);
  return state;
}

beforeEach(() => {
  vi.resetModules();
  document.body.innerHTML = /<body>(.*)<script type="module"/s.exec(html)?.[1] ?? "";
});

it("the panel opens at the section chosen in the menu, and Escape returns the focus", async () => {
  const state = await open();
  part("#menu-button").click();
  expect(part("#menu").hidden).toBe(false);
  expect(part("#menu-button").ariaExpanded).toBe("true");
  part("#menu [data-section=saving-texts]").click();
  expect(part("#menu").hidden).toBe(true);
  expect(state.panel.value).toBe("saving-texts");
  expect(part("#panel").hidden).toBe(false);
  expect(part("#saving-texts").hasAttribute("open")).toBe(true);
  expect(document.activeElement).toBe(part("#saving-texts summary"));
  pressKey(part("#saving-texts summary"), "Escape");
  expect(part("#panel").hidden).toBe(true);
  expect(part("#saving-texts").hasAttribute("open")).toBe(false);
  expect(document.activeElement).toBe(part("#menu-button"));
});

it("the panel's line names the preset, and opens the options", async () => {
  const state = await open();
  expect(part("#preset-shown").textContent).toBe("Wild");
  state.preset.value = () => "Precise";
  expect(part("#preset-shown").ariaLabel).toBe("Options: Precise");
  part("#preset-shown").click();
  expect(part("#options").hasAttribute("open")).toBe(true);
  part("#panel-close").focus();
  part("#panel-close").click();
  expect(document.activeElement).toBe(part("#preset-shown"));
});

it("the arrow keys move within the menu, and Escape closes only the menu", async () => {
  const state = await open();
  part("#menu-button").click();
  const items = [...part("#menu").querySelectorAll("button")];
  expect(document.activeElement).toBe(items[0]);
  pressKey(part("#menu"), "ArrowUp");
  expect(document.activeElement).toBe(items.at(-1));
  pressKey(part("#menu"), "ArrowDown");
  expect(document.activeElement).toBe(items[0]);
  pressKey(part("#menu"), "Escape");
  expect(part("#menu").hidden).toBe(true);
  expect(document.activeElement).toBe(part("#menu-button"));
  expect(state.panel.value).toBeUndefined();
});
