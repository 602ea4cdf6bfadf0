// @vitest-environment happy-dom
// A presenter's clicker on the stage, and a keyboard beside it.
import { beforeEach, expect, it } from "vitest";
import { listenForClicker } from "../../../web/page/parts/stage/clicker.js";

let did: string[] = [];
let isOn = false;

const begin = listenForClicker({
  isOn: () => isOn,
  goOn: () => did.push("on"),
  goBack: () => did.push("back"),
  blank: (isBlank) => did.push(isBlank ? "blank" : "shown"),
});

beforeEach(() => {
  did = [];
  isOn = true;
  begin();
});

/** Whether the stage handles the key. */
function press(key: string, more: KeyboardEventInit = {}): boolean {
  const event = new KeyboardEvent("keydown", { key, cancelable: true, bubbles: true, ...more });
  document.body.dispatchEvent(event);
  return event.defaultPrevented;
}

it("Page Down continues the text and Page Up steps back", () => {
  expect([press("PageDown"), press("PageUp")]).toEqual([true, true]);
  expect(did).toEqual(["on", "back"]);
});

it("b and a full stop blank the screen, and any key shows it again without another effect", () => {
  press("b");
  expect(press("PageDown")).toBe(true);
  press(".");
  expect(press("x")).toBe(true);
  expect(did).toEqual(["blank", "shown", "blank", "shown"]);
});

it("typed text goes into the text, including b and full stops", () => {
  expect(["O", "b", "."].map((key) => press(key))).toEqual([false, false, false]);
  expect(did).toEqual([]);
});

it("after Page Down the clicker's keys work again", () => {
  press("O");
  press("PageDown");
  press("b");
  expect(did).toEqual(["on", "blank"]);
  press("b");
});

it("shortcuts, modifier keys and keys of an input method have no effect on the stage", () => {
  expect(press("b", { ctrlKey: true })).toBe(false);
  expect(press("Shift")).toBe(false);
  expect(press("b", { isComposing: true })).toBe(false);
  expect(did).toEqual([]);
});

it("outside the stage no key has an effect", () => {
  isOn = false;
  expect([press("PageDown"), press("b")]).toEqual([false, false]);
});
