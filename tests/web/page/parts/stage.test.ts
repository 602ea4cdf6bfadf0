// @vitest-environment happy-dom
// The stage alone.
import { expect, it, vi } from "vitest";
import { offerStage } from "../../../../web/page/parts/stage/stage.js";
import { mountMarkup, pressKey } from "../../support/page-part.js";

/** An editor with one prepared passage. */
function prepared() {
  const did: string[] = [];
  return {
    did,
    canRedo: true,
    undo: () => did.push("undo"),
    redo() {
      did.push("redo");
      this.canRedo = false;
    },
    focus: vi.fn(),
    showCaret: vi.fn(),
    view: { requestMeasure: vi.fn() },
  };
}

it("Alt + Enter enters the stage, and Escape leaves it", () => {
  const { stage: enter, stageLeave: leave } = mountMarkup("stage", "stageLeave");
  const editor = prepared();
  offerStage({ enter, leave, editor, goOn: () => editor.did.push("write") });
  const isOn = () => document.documentElement.classList.contains("stage");
  pressKey(document, "Enter", { altKey: true });
  expect([isOn(), leave.hidden]).toEqual([true, false]);
  expect(editor.focus).toHaveBeenCalledTimes(1);
  for (const key of ["PageUp", "PageDown", "PageDown"]) pressKey(document.body, key);
  expect(editor.did).toEqual(["undo", "redo", "write"]); // the prepared passage comes before a new one
  pressKey(document, "Escape");
  expect([isOn(), leave.hidden]).toEqual([false, true]);
});
