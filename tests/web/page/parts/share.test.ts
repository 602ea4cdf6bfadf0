// @vitest-environment happy-dom
// Sharing alone, with a text that no model has continued.
import { expect, it } from "vitest";
import { offerSharing, type SharingSetting } from "../../../../web/page/parts/share/sharing.js";
import { makeState, mountMarkup } from "../../support/page-part.js";

it("a model of files gets no link, and the page says why", () => {
  const ui = mountMarkup("sharing", "share", "shareStatus", "menu");
  const state = makeState();
  state.chosen.value = { source: [new File([], "model.gguf")], name: "model.gguf" };
  const editor = { kept: { text: "Once", caret: 4, written: [] } };
  const setting = { ui, state, editor, writing: { lastWritten: undefined } } as unknown as SharingSetting;
  ui.share.removeAttribute("aria-disabled");
  offerSharing(setting);
  ui.share.click();
  expect(ui.shareStatus.textContent).toMatch(/^The model comes from files on this device/);
});
