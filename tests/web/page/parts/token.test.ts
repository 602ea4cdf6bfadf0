// @vitest-environment happy-dom
// The choice of views, the details of a token and the status of the scoring, each alone.
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { expect, it, vi } from "vitest";
import { attentionField } from "../../../../web/page/document/attention.js";
import { Scored } from "../../../../web/page/document/scored.js";
import { modeField } from "../../../../web/page/document/view-mode.js";
import { scoringStatus } from "../../../../web/page/parts/token/scoring-status.js";
import { showToken } from "../../../../web/page/parts/token/token-panel.js";
import { offerViews } from "../../../../web/page/parts/token/views.js";
import { mountMarkup } from "../../support/page-part.js";

it("a tab shows its view and its legend, which says that the view leaves out the fields", () => {
  const ui = mountMarkup("tabs", "surface", "legend", "scored");
  const extensions = [modeField, attentionField];
  const view = new EditorView({ state: EditorState.create({ extensions }), parent: document.body });
  const place = { tabs: { list: ui.tabs, panel: ui.surface }, legend: ui.legend, scored: ui.scored };
  offerViews(place, view, () => ({ remember: "Max talks.", note: "" }));
  expect(ui.legend.hidden).toBe(true);
  ui.tabs.querySelector<HTMLElement>("#tab-rank")?.click();
  expect([view.state.field(modeField), ui.legend.hidden]).toEqual(["rank", false]);
  expect(ui.legend.textContent).toContain("This view leaves out “Always remember” and the note.");
});

it("each alternative of a token can be chosen, except half a character", () => {
  const top = [
    { id: 7, text: " cat", logprob: Math.log(0.5) },
    { id: 8, text: " dog", logprob: Math.log(0.25) },
    { id: 9, text: "\ufffd", logprob: Math.log(0.125) },
  ];
  const { token: panel } = mountMarkup("token");
  const branch = vi.fn();
  const shown = { text: " dog", scored: new Scored([8], -1, 2, 3), prediction: { top, entropy: 1.5 } };
  showToken(panel, shown, { branch, close: vi.fn() });
  const facts = [...panel.querySelectorAll("dd")].map(({ textContent }) => textContent);
  expect(facts).toEqual(["2", "as open as among 2.8 equally probable tokens, or more", "8", "20 64 6f 67"]);
  const buttons = [...panel.querySelectorAll<HTMLButtonElement>("li button")];
  expect(buttons.map(({ ariaPressed }) => ariaPressed)).toEqual(["false", "true", "false"]);
  expect(buttons.map(({ disabled }) => disabled)).toEqual([false, false, true]);
  buttons[1]?.click();
  expect(branch).toHaveBeenCalledWith({ ...top[1], rank: 2 });
});

it("the share of the scoring is shown but not announced, and its end is announced", () => {
  const ui = mountMarkup("scored");
  const tell = scoringStatus(ui.scored);
  const live = ui.scored.querySelector("[role=status]");
  const reading = () => "Reading";
  for (const share of [" 0.1", " 0.5"]) {
    tell(reading, () => share);
    expect([live?.textContent, ui.scored.textContent]).toEqual(["Reading", `Reading${share}`]);
  }
  tell(() => "9 tokens");
  expect([live?.textContent, ui.scored.textContent]).toEqual(["9 tokens", "9 tokens"]);
});
