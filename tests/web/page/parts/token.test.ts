// @vitest-environment happy-dom
// The choice of views alone, with an editor that has only the views; and the status of the scoring.
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { expect, it } from "vitest";
import { attentionField } from "../../../../web/page/document/attention.js";
import { modeField } from "../../../../web/page/document/view-mode.js";
import { scoringStatus } from "../../../../web/page/parts/token/scoring-status.js";
import { offerViews } from "../../../../web/page/parts/token/views.js";
import { mountMarkup } from "../../support/page-part.js";

it("a tab shows its view, its legend, and its name in the address", () => {
  const ui = mountMarkup("tabs", "surface", "legend", "scored");
  const view = new EditorView({
    state: EditorState.create({ extensions: [modeField, attentionField] }),
    parent: document.body,
  });
  const fields = () => ({ remember: "Max talks.", note: "" });
  offerViews(
    { tabs: { list: ui.tabs, panel: ui.surface }, legend: ui.legend, scored: ui.scored },
    view,
    fields,
  );
  expect(ui.legend.hidden).toBe(true);
  ui.tabs.querySelector<HTMLElement>("#tab-rank")?.click();
  expect(view.state.field(modeField)).toBe("rank");
  expect(ui.tabs.querySelector<HTMLElement>("#tab-rank")?.ariaSelected).toBe("true");
  expect([ui.legend.hidden, ui.legend.lastElementChild]).toEqual([false, ui.scored]);
  expect(ui.legend.textContent).toContain("This view leaves out “Always remember” and the note.");
  expect(location.hash).toBe("#view=rank");
  ui.tabs.querySelector<HTMLElement>("#tab-text")?.click();
  expect([ui.legend.hidden, location.hash]).toEqual([true, ""]);
});

it("the share of the scoring is shown but not announced, and its end is announced", () => {
  const ui = mountMarkup("scored");
  const tell = scoringStatus(ui.scored);
  const live = ui.scored.querySelector("[role=status]");
  const found = [0.1, 0.5].map((share) => {
    tell(
      () => "Reading",
      () => ` ${share}`,
    );
    return [live?.textContent, ui.scored.textContent];
  });
  expect(found).toEqual([
    ["Reading", "Reading 0.1"],
    ["Reading", "Reading 0.5"],
  ]);
  tell(() => "9 tokens");
  expect([live?.textContent, ui.scored.textContent]).toEqual(["9 tokens", "9 tokens"]);
});
