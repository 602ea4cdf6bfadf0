// @vitest-environment happy-dom
// Suggestions alone, in an editor whose model never loads.
import { EditorView } from "@codemirror/view";
import { expect, it, vi } from "vitest";
import { RequestQueue } from "../../../../web/page/assistant/request-queue.js";
import { suggesting } from "../../../../web/page/parts/suggestions/suggesting.js";
import { mountMarkup, pressKey, settle } from "../../support/page-part.js";

function mount(sampling: () => object | undefined) {
  const { dock, suggestionBar: bar } = mountMarkup("dock", "suggestionBar");
  const needModel = vi.fn(() => Promise.reject(new Error("no network")));
  const fail = vi.fn();
  const queue = new RequestQueue(() => undefined);
  const fields = () => undefined;
  const view = new EditorView({
    extensions: suggesting({
      dock,
      bar,
      sampling,
      needModel,
      queue,
      fields,
      say: vi.fn(),
      speak: vi.fn(),
      fail,
    }),
    parent: document.body,
  });
  return { press: () => pressKey(view.contentDOM, "Tab"), needModel, fail };
}

it("Tab asks the model once, and a failure is reported", async () => {
  const { press, needModel, fail } = mount(() => ({}));
  press();
  await settle();
  expect(needModel).toHaveBeenCalledTimes(1);
  expect(fail.mock.calls.map(([error]) => String(error))).toEqual(["Error: no network"]);
});

it("Tab asks nothing while a value is refused", async () => {
  const { press, needModel } = mount(() => undefined);
  press();
  await settle();
  expect(needModel).not.toHaveBeenCalled();
});
