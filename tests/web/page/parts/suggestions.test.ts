// @vitest-environment happy-dom
// Suggestions alone, in an editor whose model never loads.
import { EditorView } from "@codemirror/view";
import { expect, it, vi } from "vitest";
import { RequestQueue } from "../../../../web/page/assistant/request-queue.js";
import { suggesting } from "../../../../web/page/parts/suggestions/suggesting.js";
import { mountMarkup, pressKey, settle } from "../../support/page-part.js";

/** Presses Tab in an editor that samples with `options`, and returns what was called. */
async function pressTab(options: object | undefined) {
  const { dock, suggestionBar: bar } = mountMarkup("dock", "suggestionBar");
  const needModel = vi.fn(() => Promise.reject(new Error("no network")));
  const fail = vi.fn();
  const queue = new RequestQueue(() => undefined);
  const setting = {
    dock,
    bar,
    queue,
    needModel,
    fail,
    say: vi.fn(),
    speak: vi.fn(),
    fields: () => undefined,
  };
  const extensions = suggesting({ ...setting, sampling: () => options });
  pressKey(new EditorView({ extensions, parent: document.body }).contentDOM, "Tab");
  await settle();
  return { needModel, fail };
}

it("Tab asks the model once, and a failure is reported", async () => {
  const { needModel, fail } = await pressTab({});
  expect(needModel).toHaveBeenCalledTimes(1);
  expect(fail.mock.calls.map(([error]) => String(error))).toEqual(["Error: no network"]);
});

it("Tab asks nothing while a value is refused", async () => {
  expect((await pressTab(undefined)).needModel).not.toHaveBeenCalled();
});
