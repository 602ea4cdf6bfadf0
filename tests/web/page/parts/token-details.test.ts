// @vitest-environment happy-dom
// The details of a token alone: in an editor with a hand-made model, and in a panel without an editor.
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { expect, it, onTestFinished, vi } from "vitest";
import { RequestQueue } from "../../../../web/page/assistant/request-queue.js";
import { Scored, setScored } from "../../../../web/page/document/scored.js";
import { viewMode } from "../../../../web/page/document/view-mode.js";
import { details } from "../../../../web/page/parts/token/details.js";
import { showDetails } from "../../../../web/page/parts/token/details-field.js";
import { showScore, showToken } from "../../../../web/page/parts/token/token-panel.js";
import type { Model } from "../../../../web/src/client/index.js";
import { FakeObserver } from "../../support/element-page.js";
import { mountMarkup, pressKey } from "../../support/page-part.js";

const top = [
  { id: 7, text: " cat", logprob: Math.log(0.5) },
  { id: 8, text: " dog", logprob: Math.log(0.25) },
  { id: 9, text: "\ufffd", logprob: Math.log(0.125) },
];
const prediction = { top, entropy: 1.5 };
const branch = vi.fn();
const close = vi.fn();
const buttonsOf = (panel: HTMLElement) => [...panel.querySelectorAll<HTMLButtonElement>("li button")];
const factsOf = (panel: HTMLElement) => [...panel.querySelectorAll("dd")].map((each) => each.textContent);

it("the panel shows a token's facts and its alternatives, of which each but half a character can be chosen", () => {
  const { token: panel } = mountMarkup("token");
  showToken(panel, { text: " dog", scored: new Scored([8], -1, 2, 3), prediction }, { branch, close });
  expect(factsOf(panel)).toEqual(["2", "at least 1.5 bits", "8", "20 64 6f 67"]);
  const [cat, dog, half] = buttonsOf(panel);
  expect([cat, dog, half].map((each) => [each?.ariaPressed, each?.disabled])).toEqual([
    ["false", false],
    ["true", false],
    ["false", true],
  ]);
  dog?.click();
  expect(branch).toHaveBeenCalledWith({ ...top[1], rank: 2 });
  panel.querySelector<HTMLElement>(".token-head button")?.click();
  expect(close).toHaveBeenCalledOnce();
});

it("a score that arrives later fills its place in the panel", () => {
  const { token: panel } = mountMarkup("token");
  const shown = { text: " dog", prediction: "asked" } as const;
  showToken(panel, { ...shown, scored: new Scored([8], undefined, undefined, 3) }, { branch, close });
  expect([panel.querySelector(".share")?.textContent, factsOf(panel)[0]]).toEqual(["…", "…"]);
  showScore(panel, { ...shown, scored: new Scored([8], Math.log(0.25), 2, 3) });
  expect([panel.querySelector(".share")?.textContent, factsOf(panel)[0]]).toEqual(["25.0%", "2"]);
});

it("the details of a pressed token come from the model, and Escape closes them", async () => {
  vi.stubGlobal("ResizeObserver", FakeObserver);
  vi.stubGlobal("visualViewport", null);
  onTestFinished(() => void vi.unstubAllGlobals());
  const { token: panel, dock, generate: next } = mountMarkup("token", "dock", "generate");
  const complete = vi.fn(() => Promise.resolve({ tokens: [{ top }] }));
  const score = vi.fn(() => Promise.resolve({ tokens: [{ rank: 2 }], logprob: Math.log(0.25) }));
  const info = { config: { nPositions: 8, vocabSize: 50 } };
  const model = { info, complete, score } as unknown as Model;
  const fail = vi.fn();
  const queue = new RequestQueue(() => Promise.resolve(model));
  const extensions = [viewMode, details({ panel, dock, next, queue, fail, branch })];
  const view = new EditorView({
    state: EditorState.create({ doc: "The dog", extensions }),
    parent: document.body,
  });
  onTestFinished(() => view.destroy());
  const tokens = [
    new Scored([5], null, null, 0).range(0, 3),
    new Scored([8], undefined, undefined, 1).range(3, 7),
  ];
  view.dispatch({ effects: setScored.of(tokens) });
  view.dispatch({ effects: showDetails.of(7) });
  expect([panel.hidden, panel.querySelector(".name")?.textContent]).toEqual([false, "␣dog"]);
  await vi.waitFor(() => expect(buttonsOf(panel).length).toBe(3));
  await vi.waitFor(() => expect(panel.querySelector(".token-head .share")?.textContent).toBe("25.0%"));
  expect(complete).toHaveBeenCalledWith([5], expect.objectContaining({ maxNewTokens: 1, logprobs: 50 }));
  expect(score).toHaveBeenCalledWith([5, 8], expect.objectContaining({ start: 1 }));
  branch.mockClear();
  buttonsOf(panel)[0]?.click();
  expect(branch).toHaveBeenCalledWith(3, { ...top[0], rank: 1 });
  pressKey(panel, "Escape");
  expect([panel.hidden, panel.children.length]).toEqual([true, 0]);
  expect(fail).not.toHaveBeenCalled();
});
