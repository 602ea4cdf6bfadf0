// @vitest-environment happy-dom
// The side panel and the menu that opens it, alone.
import { expect, it } from "vitest";
import { offerMenu } from "../../../../web/page/parts/bar/menu.js";
import { offerPanel } from "../../../../web/page/parts/panel/panel.js";
import { makeState, mountMarkup, pressKey } from "../../support/page-part.js";

const part = (selector: string) => document.querySelector<HTMLElement>(selector) ?? document.body;

function open() {
  const ui = mountMarkup(
    ...(["panel", "panelClose", "menu", "menuButton", "libraryOpen", "presetShown", "undo", "redo"] as const),
  );
  const state = makeState();
  state.preset.value = () => "Wild";
  offerMenu(ui);
  offerPanel(ui, state);
  return state;
}

it("the panel opens at the section chosen in the menu, and Escape returns the focus", () => {
  const state = open();
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

it("the panel's line names the preset, and opens the options", () => {
  const state = open();
  expect(part("#preset-shown").textContent).toBe("Wild");
  state.preset.value = () => "Precise";
  expect(part("#preset-shown").ariaLabel).toBe("Options: Precise");
  part("#preset-shown").click();
  expect(part("#options").hasAttribute("open")).toBe(true);
  part("#panel-close").focus();
  part("#panel-close").click();
  expect(document.activeElement).toBe(part("#preset-shown"));
});

it("the arrow keys move within the menu, and Escape closes only the menu", () => {
  const state = open();
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
