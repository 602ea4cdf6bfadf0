// @vitest-environment happy-dom
// The tab "Inside" alone, in an editor with its own queue. tests/web/figures tests the figures.
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { signal } from "@preact/signals-core";
import { expect, it, vi } from "vitest";
import { currentLanguage } from "../../../../web/page/language/translation.js";
import { RequestQueue } from "../../../../web/page/assistant/request-queue.js";
import { attentionField } from "../../../../web/page/document/attention.js";
import { scoredField } from "../../../../web/page/document/scored.js";
import { modeField, setMode } from "../../../../web/page/document/view-mode.js";
import { lookingInside } from "../../../../web/page/parts/inside/opening.js";
import * as figures from "../../../../web/src/figures/index.js";
import { mountMarkup } from "../../support/page-part.js";

vi.mock(import("../../../../web/src/figures/index.js"), { spy: true });

it("the next model does not get the selected head, because it may have fewer heads", async () => {
  const { inside: root } = mountMarkup("inside");
  const listeners = new Set<() => void>();
  const setting = {
    ...{ root, queue: new RequestQueue(() => undefined), isWriting: () => false, fail: vi.fn() },
    change: signal([]),
    onModelChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const extensions = [modeField, scoredField, attentionField, lookingInside(setting)];
  const view = new EditorView({ state: EditorState.create({ extensions }), parent: document.body });
  const { calls } = vi.mocked(figures.showInside).mock;
  const before = calls.length;
  view.dispatch({ effects: setMode.of("inside") });
  await vi.waitUntil(() => calls.length > before, 20_000);
  const headOf = (call: number) => calls[before + call]?.[1]?.head;
  const changeModel = () => listeners.forEach((changed) => changed());
  const switchLanguage = () => (currentLanguage.value = { ...currentLanguage.value });
  calls[before]?.[1]?.onHead?.({ layer: 6, head: 0, first: 0, weights: new Float32Array(1) });

  switchLanguage();
  await vi.waitUntil(() => calls.length > before + 1, 20_000);
  expect(headOf(1)).toMatchObject({ layer: 6, head: 0 });
  changeModel(); // before an update has shown that head
  expect(calls.length).toBe(before + 3);
  expect(headOf(2)).toBeUndefined();

  calls[before + 2]?.[1]?.onHead?.({ layer: 3, head: 0, first: 0, weights: new Float32Array(1) });
  view.dispatch({ effects: setMode.of("text") });
  switchLanguage();
  changeModel(); // while no figures are there
  view.dispatch({ effects: setMode.of("inside") });
  await vi.waitUntil(() => calls.length > before + 3, 20_000);
  expect(headOf(3)).toBeUndefined();
  expect(setting.fail).not.toHaveBeenCalled();
  view.destroy();
});
