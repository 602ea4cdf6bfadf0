// @vitest-environment happy-dom
// The status line and the facts about the model, alone.
import { expect, it, vi } from "vitest";
import type { Model } from "../../../../web/src/client/index.js";
import { showFacts } from "../../../../web/page/parts/status/facts.js";
import { showStatus } from "../../../../web/page/parts/status/status.js";
import { makeState, mountMarkup } from "../../support/page-part.js";

it("a status is announced once; one that describes the text disappears with the next change", () => {
  const ui = mountMarkup(
    ...(["error", "errorText", "errorRepair", "errorReset"] as const),
    ...(["loading", "loadingCancel", "generate", "finish"] as const),
  );
  const speech = { status: vi.fn() };
  const state = makeState();
  showStatus(ui, state, speech);
  state.say(() => "Finished.");
  state.say(() => "Finished.");
  expect(speech.status.mock.calls.filter(([said]) => said === "Finished.")).toHaveLength(1);
  state.text.value += 1;
  expect(ui.finish.textContent).toBe("Finished."); // it stays true
  state.sayOfText(() => "Opened: Cats");
  expect(ui.finish.textContent).toBe("Opened: Cats");
  state.text.value += 1;
  expect(ui.finish.textContent).toBe("");
});

it("the facts about the model include its notice", () => {
  const ui = mountMarkup("engine", "model", "notice", "speed", "firstToken");
  const state = makeState();
  showFacts(ui, state);
  const notice = "It has lost a thread.";
  const info = {
    variant: "simd",
    threads: 2,
    parameters: 124e6,
    weights: "q8",
    warnings: [],
    notStored: null,
  };
  const model = { info: { ...info, notice } } as unknown as Model;
  state.model.value = { kind: "ready", model, traffic: { network: 0, cache: 0 } };
  expect(ui.model.textContent).toContain("124 million parameters");
  expect([ui.notice.hidden, ui.notice.textContent]).toEqual([false, notice]);
});
