// @vitest-environment happy-dom
// The list of keys alone.
import { expect, it } from "vitest";
import { offerKeys } from "../../../../web/page/parts/keys/sheet.js";
import { mountMarkup, pressKey } from "../../support/page-part.js";

it("a question mark opens the list of keys, but not in a text field", () => {
  const { keys } = mountMarkup("keys");
  offerKeys(keys);
  const field = document.createElement("textarea");
  document.body.append(field);
  pressKey(field, "?");
  expect(document.querySelector("dialog")).toBeNull();
  pressKey(document.body, "?");
  const dialog = document.querySelector("dialog");
  expect(dialog?.open).toBe(true);
  expect(dialog?.querySelector("kbd")?.textContent).toBe("Tab");
  dialog?.querySelector("button")?.click();
  expect(dialog?.open).toBe(false);
});
