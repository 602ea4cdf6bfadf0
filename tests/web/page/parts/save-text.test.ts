// @vitest-environment happy-dom
// The buttons that save the text, alone.
import { expect, it, vi } from "vitest";
import { offerSavingText } from "../../../../web/page/parts/save-text/offer.js";
import { mountMarkup } from "../../support/page-part.js";

const { download } = vi.hoisted(() => ({ download: vi.fn() }));
vi.mock("../../../../web/page/dom/download.js", () => ({ download }));

it("each format saves the text as it is when its button is pressed", async () => {
  const ui = mountMarkup("textSavingFormats", "textSavingStatus");
  let text = "Once";
  offerSavingText(ui, () => ({ kept: { text, caret: 0, written: [] }, tree: undefined, model: "demo" }));
  const buttons = [...ui.textSavingFormats.querySelectorAll("button")];
  expect(buttons.map(({ ariaLabel }) => ariaLabel)).toEqual([
    "Save as Text",
    "Save as Markdown",
    "Save as Web page",
  ]);
  text = "Once upon a time";
  buttons[0]?.click();
  const [name, [blob], type] = download.mock.calls[0] as [string, [Blob], string];
  expect([name, await blob.text(), type]).toEqual([
    "once-upon-a-time.txt",
    "Once upon a time",
    "text/plain;charset=utf-8",
  ]);
  expect(ui.textSavingStatus.textContent).toBe("Saved: once-upon-a-time.txt");
});
