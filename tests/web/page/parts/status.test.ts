// @vitest-environment happy-dom
// The status line, alone.
import { expect, it, vi } from "vitest";
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
