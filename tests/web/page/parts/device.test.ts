// @vitest-environment happy-dom
// The section "Device" alone, on a browser whose state cannot be read.
import { expect, it, vi } from "vitest";
import { offerDevice } from "../../../../web/page/parts/device/offer.js";
import { isOff, makeState, mountMarkup, settle } from "../../support/page-part.js";

vi.mock("../../../../web/src/client/index.js", () => ({
  explainEnvironment: () => Promise.reject(new Error("no worker")),
}));

it("the section is filled when it is opened, and says why the state could not be read", async () => {
  const ui = mountMarkup("device", "devicePanel");
  offerDevice(
    ui,
    makeState(),
    () => {},
    () => {},
  );
  expect(ui.devicePanel.childElementCount).toBe(0);
  ui.device.open = true;
  ui.device.dispatchEvent(new Event("toggle"));
  await vi.waitUntil(() => ui.devicePanel.querySelector("[role=status]"), 20_000);
  await settle();
  expect(ui.devicePanel.querySelector("dt")?.textContent).toBe("Engine");
  expect(ui.devicePanel.querySelector("[role=status]")?.textContent).toBe(
    "The state of the engine could not be read: no worker.",
  );
  // Without a model there is nothing to measure.
  expect(isOff(ui.devicePanel.querySelector("button"))).toBe(true);
});
