// @vitest-environment happy-dom
// A presenter's clicker on the stage, and a keyboard beside it.
import { beforeEach, expect, it } from "vitest";
import { listenForClicker } from "../../../web/page/parts/stage/clicker.js";

let isOn = true;
const did: string[] = [];
const begin = listenForClicker({
  isOn: () => isOn,
  goOn: () => did.push("on"),
  goBack: () => did.push("back"),
  blank: (isBlank) => did.push(isBlank ? "blank" : "shown"),
});

/** Presses the keys, and returns those that the stage handles. */
const press = (...keys: KeyboardEventInit[]) =>
  keys.filter((key) => {
    const event = new KeyboardEvent("keydown", { cancelable: true, bubbles: true, ...key });
    document.body.dispatchEvent(event);
    return event.defaultPrevented;
  });

beforeEach(() => {
  did.splice(0);
  isOn = true;
  begin();
});

it.each([
  ["Page Down continues the text, and Page Up steps back", "PageDown PageUp", "PageDown PageUp", "on back"],
  ["b or . blanks the screen until a key", "b PageDown . x", "b PageDown . x", "blank shown blank shown"],
  ["typed text goes into the text, including b and full stops", "O b .", "", ""],
  ["after Page Down the clicker's keys work again", "O PageDown b b", "PageDown b b", "on blank shown"],
])("%s", (_, keys, handled, does) => {
  const pressed = press(...keys.split(" ").map((key) => ({ key })));
  expect(pressed.map(({ key }) => key).join(" ")).toBe(handled);
  expect(did.join(" ")).toBe(does);
});

it("shortcuts, modifier keys, keys of an input method, and keys outside the stage have no effect", () => {
  expect(press({ key: "b", ctrlKey: true }, { key: "Shift" }, { key: "b", isComposing: true })).toEqual([]);
  isOn = false;
  expect(press({ key: "PageDown" }, { key: "b" })).toEqual([]);
  expect(did).toEqual([]);
});
