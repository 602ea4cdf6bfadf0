// @vitest-environment happy-dom
// Sharing alone, with a text that no model has continued, and a link that is not read.
import { expect, it, onTestFinished, vi } from "vitest";
import { offerSharing, type SharingSetting } from "../../../../web/page/parts/share/sharing.js";
import { makeState, mountMarkup, settle } from "../../support/page-part.js";

const passage = { prompt: "The sea was", after: "", written: [], options: {}, hash: "0".repeat(64) };

vi.mock(import("../../../../web/page/library/shared-text.js"), async (original) => ({
  ...(await original()),
  fromFragment: () => Promise.resolve(passage),
}));

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

it("a refused option gets no link, and is explained where it is set", () => {
  const ui = mountMarkup("sharing", "share", "shareStatus", "menu");
  const writeText = vi.fn();
  vi.stubGlobal("navigator", { clipboard: { writeText } });
  onTestFinished(() => void vi.unstubAllGlobals());
  const options = { read: vi.fn(() => undefined) };
  const editor = { kept: { text: "Once", caret: 4, written: [] } };
  const setting = { ui, state: makeState(), editor, options, writing: { lastWritten: undefined } };
  ui.share.removeAttribute("aria-disabled");
  offerSharing(setting as unknown as SharingSetting);
  ui.share.click();
  expect(options.read).toHaveBeenCalled();
  expect([ui.shareStatus.textContent, writeText.mock.calls]).toEqual(["", []]);
});

/** Opens a page whose address has the link; `load` ends the wait for its model. */
function openPage() {
  const state = makeState();
  const editor = { text: "Once", showOther: vi.fn(({ text }: { text: string }) => (editor.text = text)) };
  let load = () => {};
  const coming = new Promise<void>((resolve) => (load = resolve));
  const setting = {
    ui: mountMarkup("sharing", "share", "shareStatus", "menu"),
    state,
    editor,
    options: { show: vi.fn() },
    loading: { whenReady: () => coming },
    setAside: vi.fn(),
  };
  offerSharing(setting as unknown as SharingSetting);
  return { state, editor, load };
}

it.each([
  ["has typed", ({ editor }: ReturnType<typeof openPage>) => (editor.text = "My own words")],
  [
    "writes",
    ({ state }: ReturnType<typeof openPage>) =>
      (state.activity.value = { kind: "writing", stop: async () => {} }),
  ],
])("a link that is left because the visitor %s is not opened again by a reload", async (_, leave) => {
  history.replaceState(null, "", "#text=link");
  sessionStorage.clear();
  vi.stubGlobal("addEventListener", vi.fn()); // otherwise the page of one test would follow the link of the next
  onTestFinished(() => {
    history.replaceState(null, "", "#");
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });
  const page = openPage();
  await vi.waitFor(() => expect(page.editor.text).toBe("The sea was"));
  leave(page);
  page.load();
  await vi.waitFor(() =>
    expect(page.state.status.value()).toBe(
      "The link was not opened, because the text has changed since: open it in a new tab.",
    ),
  );
  vi.spyOn(performance, "getEntriesByType").mockReturnValue([
    { type: "reload" } as PerformanceNavigationTiming,
  ]);
  const reloaded = openPage();
  await settle();
  expect(reloaded.editor.showOther).not.toHaveBeenCalled();
});
