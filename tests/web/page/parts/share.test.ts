// @vitest-environment happy-dom
// Sharing alone: texts that get no link, and a link that the visitor leaves.
import { expect, it, onTestFinished, vi } from "vitest";
import { offerSharing, type SharingSetting } from "../../../../web/page/parts/share/sharing.js";
import { makeState, mountMarkup, settle } from "../../support/page-part.js";

const left = { prompt: "The sea was", after: "", written: [], options: {}, hash: "0".repeat(64) };

vi.mock(import("../../../../web/page/library/shared-text.js"), async (original) => ({
  ...(await original()),
  fromFragment: () => Promise.resolve(left),
}));

/** A page with a text that no model has continued; `load` ends the wait for its model. */
function openPage() {
  const state = makeState();
  const kept = { text: "Once", caret: 4, written: [] };
  const editor = {
    text: "Once",
    kept,
    showOther: vi.fn(({ text }: { text: string }) => (editor.text = text)),
  };
  let load = () => {};
  const coming = new Promise<void>((resolve) => (load = resolve));
  const setting = {
    ui: mountMarkup("sharing", "share", "shareStatus", "menu"),
    state,
    editor,
    options: { show: vi.fn(), read: vi.fn(() => undefined) },
    writing: { write: vi.fn(), lastWritten: undefined },
    loading: { whenReady: () => coming },
    setAside: vi.fn(),
  };
  setting.ui.share.removeAttribute("aria-disabled");
  offerSharing(setting as unknown as SharingSetting);
  return { ...setting, load };
}

it("a model of files gets no link, and the page says why", () => {
  const { ui, state } = openPage();
  state.chosen.value = { source: [new File([], "model.gguf")], name: "model.gguf" };
  ui.share.click();
  expect(ui.shareStatus.textContent).toMatch(/^The model comes from files on this device/);
});

it("a refused option gets no link, and is explained where it is set", () => {
  const { ui, options } = openPage();
  const writeText = vi.fn();
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  ui.shareStatus.textContent = "Link copied";
  ui.share.click();
  expect(options.read).toHaveBeenCalled();
  expect([ui.shareStatus.textContent, writeText.mock.calls]).toEqual(["", []]);
});

it.each<[string, (page: ReturnType<typeof openPage>) => unknown]>([
  ["has typed", ({ editor }) => (editor.text = "My own words")],
  ["writes", ({ state }) => (state.activity.value = { kind: "writing", stop: async () => {} })],
])("a link that is left because the visitor %s is not opened again by a reload", async (_, leave) => {
  history.replaceState(null, "", "#text=link");
  sessionStorage.clear();
  vi.stubGlobal("addEventListener", vi.fn()); // the page of one test does not follow the link of the next
  onTestFinished(() => {
    history.replaceState(null, "", "#");
  });
  const page = openPage();
  await vi.waitFor(() => expect(page.editor.text).toBe("The sea was"));
  expect(page.setAside).toHaveBeenCalledBefore(page.editor.showOther); // the text before is stored
  leave(page);
  page.load();
  const sentence = "The link was not opened, because the text has changed since: open it in a new tab.";
  await vi.waitFor(() => expect(page.state.status.value()).toBe(sentence));
  const reload = { type: "reload" } as PerformanceNavigationTiming;
  vi.spyOn(performance, "getEntriesByType").mockReturnValue([reload]);
  const reloaded = openPage();
  await settle();
  expect(reloaded.editor.showOther).not.toHaveBeenCalled();
});
