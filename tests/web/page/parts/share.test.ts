// @vitest-environment happy-dom
// Sharing alone: a text that no model has continued, and the links that the page opens.
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { sha256 } from "../../../../web/src/loader/sha256.js";
import type { SharedText } from "../../../../web/page/library/shared-text.js";
import { offerSharing, type SharingSetting } from "../../../../web/page/parts/share/sharing.js";
import { makeState, mountMarkup, settle } from "../../support/page-part.js";

const left = { prompt: "The sea was", after: "", written: [], options: {}, hash: "0".repeat(64) };
let passage: SharedText = left;
beforeEach(() => void (passage = left));

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
  ui.shareStatus.textContent = "Link copied";
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
    writing: { write: vi.fn() },
    loading: { whenReady: () => coming },
    setAside: vi.fn(),
  };
  offerSharing(setting as unknown as SharingSetting);
  return { ...setting, load };
}

/** The address has a link; the page of one test does not follow the link of the next. */
function setLink() {
  history.replaceState(null, "", "#text=link");
  sessionStorage.clear();
  vi.stubGlobal("addEventListener", vi.fn());
  onTestFinished(() => {
    history.replaceState(null, "", "#");
    vi.restoreAllMocks();
    vi.unstubAllGlobals();
  });
}

it("a link without a run shows its text, fields and options, after the text before is stored", async () => {
  setLink();
  const fields = { remember: "Max talks.", note: "" };
  passage = { prompt: "The sea", after: " was", written: [[0, 3]], options: { topK: 5 }, fields };
  const { state, editor, options, setAside, writing } = openPage();
  await vi.waitFor(() => expect(state.status.value()).toMatch(/^This is the linked text/));
  const kept = { text: "The sea was", caret: 7, written: [[0, 3]] };
  expect(editor.showOther).toHaveBeenCalledWith(kept, fields);
  expect(options.show).toHaveBeenCalledWith({ topK: 5 });
  expect(setAside).toHaveBeenCalledBefore(editor.showOther);
  expect(writing.write).not.toHaveBeenCalled();
});

it.each([
  ["the same text", " calm", /^Identical to the linked text: 1 token,/],
  ["another text", " wild", /^This is not the linked text/],
])(
  "a link with a run is written again once the model is loaded, and the page says that it is %s",
  async (_, text, said) => {
    setLink();
    const hash = await sha256(new TextEncoder().encode(" calm"));
    passage = { ...left, after: "!", hash, options: { seed: 3 } };
    const { state, editor, writing, load } = openPage();
    writing.write.mockImplementation(() => {
      editor.text = `The sea was${text}!`;
      return Promise.resolve({ text, tokens: 1, hasEnded: true });
    });
    await vi.waitFor(() => expect(editor.text).toBe("The sea was!"));
    expect(writing.write).not.toHaveBeenCalled();
    load();
    await vi.waitFor(() => expect(state.status.value()).toMatch(said));
    expect(writing.write).toHaveBeenCalledWith(expect.any(Function), { seed: 3 });
  },
);

it.each([
  ["has typed", ({ editor }: ReturnType<typeof openPage>) => (editor.text = "My own words")],
  [
    "writes",
    ({ state }: ReturnType<typeof openPage>) =>
      (state.activity.value = { kind: "writing", stop: async () => {} }),
  ],
])("a link that is left because the visitor %s is not opened again by a reload", async (_, leave) => {
  setLink();
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
