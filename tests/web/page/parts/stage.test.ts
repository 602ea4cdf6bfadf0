// @vitest-environment happy-dom
// The stage alone.
import { expect, it, vi } from "vitest";
import { offerStage } from "../../../../web/page/parts/stage/stage.js";
import { mountMarkup, pressKey } from "../../support/page-part.js";

it("Alt + Enter enters the stage, and Escape leaves it", () => {
  const { stage: enter, stageLeave: leave } = mountMarkup("stage", "stageLeave");
  const editor = { undo: vi.fn(), focus: vi.fn(), showCaret: vi.fn(), view: { requestMeasure: vi.fn() } };
  offerStage({ enter, leave, editor, goOn: vi.fn() });
  const isOn = () => document.documentElement.classList.contains("stage");
  pressKey(document, "Enter", { altKey: true });
  expect([isOn(), leave.hidden]).toEqual([true, false]);
  expect(editor.focus).toHaveBeenCalledTimes(1);
  pressKey(document, "Escape");
  expect([isOn(), leave.hidden]).toEqual([false, true]);
});
