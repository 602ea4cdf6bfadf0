// @vitest-environment happy-dom
// The status line, the error and the facts about the model, alone.
import { beforeEach, expect, it, vi } from "vitest";
import type { Model } from "../../../../web/src/client/index.js";
import { showFacts } from "../../../../web/page/parts/status/facts.js";
import { offerReadingAloud } from "../../../../web/page/parts/status/read-aloud.js";
import { showStatus } from "../../../../web/page/parts/status/status.js";
import { LateSpeech } from "../../../../web/page/parts/status/with-speech.js";
import { makeState, mountMarkup, settle } from "../../support/page-part.js";

beforeEach(() => localStorage.clear());

function mountStatus() {
  const ui = mountMarkup(
    ...(["error", "errorText", "errorRepair", "errorReset"] as const),
    ...(["loading", "loadingCancel", "generate", "finish"] as const),
  );
  const speech = { status: vi.fn() };
  const state = makeState();
  showStatus(ui, state, speech);
  return { ui, speech, state };
}

it("a status is shown and announced once", () => {
  const { ui, speech, state } = mountStatus();
  state.say(() => "Finished.");
  state.say(() => "Finished.");
  expect(ui.finish.textContent).toBe("Finished.");
  expect(speech.status.mock.calls.filter(([said]) => said === "Finished.")).toHaveLength(1);
});

it("a status that describes the text disappears with the first change, and others stay", () => {
  const { ui, state } = mountStatus();
  state.text.value += 1;
  state.sayOfText(() => "Opened: Cats");
  expect(ui.finish.textContent).toBe("Opened: Cats");
  state.text.value += 1;
  expect(ui.finish.textContent).toBe("");
  state.text.value += 1;
  expect(state.status.value()).toBe("");
  state.say(() => "Finished.");
  state.text.value += 1;
  expect(ui.finish.textContent).toBe("Finished.");
});

it("an error offers its repair, and passes the focus on when it disappears", () => {
  const { ui, state } = mountStatus();
  const run = vi.fn();
  state.showError(() => "It failed.", { label: () => "Again", run });
  expect([ui.error.hidden, ui.errorText.textContent, ui.errorRepair.textContent]).toEqual([
    false,
    "It failed.",
    "Again",
  ]);
  expect(ui.errorReset.hidden).toBe(true);
  ui.errorRepair.focus();
  ui.errorRepair.click();
  expect(run).toHaveBeenCalledTimes(1);
  ui.loading.hidden = true;
  ui.generate.disabled = false;
  state.hideError();
  expect(ui.error.hidden).toBe(true);
  expect(document.activeElement).toBe(ui.generate);
});

it("the facts about the model change with the model, and wait while it writes", () => {
  const ui = mountMarkup("engine", "model", "notice", "speed", "firstToken");
  const state = makeState();
  showFacts(ui, state);
  const info = { variant: "simd", threads: 2, parameters: 124e6, weights: "q8", warnings: [] };
  state.model.value = {
    kind: "ready",
    model: { info: { ...info, notice: "It has lost a thread.", notStored: null } } as unknown as Model,
    traffic: { network: 0, cache: 0 },
  };
  expect(ui.model.textContent).toContain("124 million parameters");
  expect([ui.notice.hidden, ui.notice.textContent]).toEqual([false, "It has lost a thread."]);
  state.tokensPerSecond.value = 31;
  expect(ui.speed.textContent).toBe("31 tokens/s");
});

it("switching reading aloud off is stored, and discards the sentences that wait", () => {
  const { controls } = mountMarkup("controls");
  const speech = { hush: vi.fn() };
  offerReadingAloud(controls, speech);
  const box = controls.querySelector("input");
  expect(box?.checked).toBe(true);
  if (box) box.checked = false;
  box?.dispatchEvent(new Event("input"));
  expect(speech.hush).toHaveBeenCalledTimes(1);
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
  expect(speech.hush).toHaveBeenCalledTimes(2);
  controls.replaceChildren();
  offerReadingAloud(controls, speech);
  expect(controls.querySelector("input")?.checked).toBe(false);
});

it("a status is spoken after the text that came before it", async () => {
  const { spoken } = mountMarkup("spoken");
  const speech = new LateSpeech(spoken);
  speech.add("Once upon a time. ");
  speech.status("Finished.");
  await vi.waitUntil(() => spoken.textContent !== "");
  await settle();
  expect(spoken.firstElementChild?.textContent).toBe("Once upon a time.");
});
