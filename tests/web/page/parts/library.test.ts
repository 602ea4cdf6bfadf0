// @vitest-environment happy-dom
// The list of texts, mounted alone with texts that are made up. library.spec.ts uses it with stored texts.
import { beforeEach, expect, it, vi } from "vitest";
import { Library, type LibrarySetting } from "../../../../web/page/parts/library/library.js";
import type { LibraryPlace } from "../../../../web/page/parts/library/bring.js";
import { offerLibrary } from "../../../../web/page/parts/library/offer.js";
import { reasonOf } from "../../../../web/page/parts/library/reason.js";
import { Texts, type ListedText } from "../../../../web/page/library/texts.js";
import { makeState, mountMarkup, pressKey } from "../../support/page-part.js";

const all: ListedText[] = [
  { id: "a", name: "Cats", text: "A cat sat here.", changed: Date.now() - 7_200_000, where: "here" },
  { id: "b", name: undefined, text: "The dogs ran away", changed: 1e12, where: "elsewhere" },
  { id: "c", name: undefined, text: "", changed: 0, where: "nowhere" },
];

const place = document.createElement("div");
const part = (selector: string) => place.querySelector<HTMLElement>(selector) ?? document.body;
const textsOf = (selector: string) =>
  [...place.querySelectorAll(selector)].map(({ textContent }) => textContent);
const rows = () => textsOf(".text-name");
const status = () => part("[role=status]").textContent;
/** The button `name` of the row in place `row`, counted from 1. */
const button = (name: string, row: number) =>
  [...part(`li:nth-child(${row})`).querySelectorAll("button")].find((each) => each.textContent === name);
const type = (query: string) => {
  (part("input[type=search]") as HTMLInputElement).value = query;
  part("input[type=search]").dispatchEvent(new Event("input"));
};

/** The list of `all` but for `change`. */
async function mount(change: Partial<Omit<LibrarySetting["texts"], "current">> = {}) {
  const removal = { restore: vi.fn(() => Promise.resolve()), finish: vi.fn(() => Promise.resolve()) };
  const texts = {
    list: vi.fn(() => Promise.resolve(all)),
    current: { id: "a", text: "A cat sat here." },
    rename: vi.fn(() => Promise.resolve()),
    duplicate: vi.fn(() => Promise.resolve()),
    remove: vi.fn(() => Promise.resolve(removal)),
    exportAll: vi.fn(() => Promise.resolve("{}")),
    importAll: vi.fn(() => Promise.resolve({ added: 2, known: 1, ids: [] })),
    ...change,
  };
  const open = vi.fn((id?: string) => Promise.resolve(id !== "b"));
  const library = new Library({ place, texts, open, stop: vi.fn(() => Promise.resolve()), leave: vi.fn() });
  await library.refresh();
  return { library, removal, texts, open };
}

/** The page's clock advances by `ms` at each look. */
function spendTime(ms: number): void {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += ms));
}

beforeEach(() => document.body.replaceChildren(place));

it("the library lists each text with its name, its age, its length and where it is open", async () => {
  await mount();
  expect(rows()).toEqual(["Cats", "The dogs ran away", "Untitled"]);
  expect(textsOf("small")).toEqual([
    "2 hours ago · 4 words · open",
    "Sep 9, 2001 · 4 words · open in another tab",
    "0 words",
  ]);
  expect(part("[aria-current=true]").textContent).toContain("Cats");
  const names = [...place.querySelectorAll(".text-name, li p")]; // and found passages
  expect(names.map((text) => text.getAttribute("dir"))).toEqual(Array<string>(6).fill("auto"));
  await mount({ list: () => Promise.resolve(all.slice(2)) });
  expect(part(":scope > p").textContent).toBe("Everything you write is kept here, on this device.");
});

it("a text is renamed in its place; Escape keeps its name", async () => {
  const { texts } = await mount();
  const ask = (value: string, key: string) => {
    button("Rename", 1)?.click();
    const field = part("li input") as HTMLInputElement;
    expect(field.ariaLabel).toBe("Name of Cats");
    field.value = value;
    pressKey(field, key);
  };
  ask("Dogs", "Escape");
  ask("Cats", "Enter");
  expect(texts.rename).not.toHaveBeenCalled();
  let focused: string | null = null;
  place.addEventListener("focusin", ({ target }) => (focused = (target as Element).ariaLabel));
  ask("Dogs", "Enter");
  expect(focused).toBe("More for Dogs");
  await vi.waitFor(() => expect(texts.rename).toHaveBeenCalledWith("a", "Dogs"));
});

it("a second press of Delete or of a row does nothing, and Undo still restores the text", async () => {
  let listed = all;
  const { library, texts, removal, open } = await mount({ list: () => Promise.resolve(listed) });
  vi.mocked(texts.remove).mockImplementation(() => {
    listed = listed.slice(1);
    return Promise.resolve(removal);
  });
  const press = button("Delete", 1);
  press?.click();
  press?.click();
  await vi.waitFor(() => expect(status()).toBe("Deleted: Cats"));
  await library.refresh();
  expect(texts.remove).toHaveBeenCalledOnce();
  expect(removal.finish).not.toHaveBeenCalled();
  expect(part(".text-said button").hidden).toBe(false);

  const row = part("li:nth-child(2) button");
  open.mockImplementation((id) => {
    listed = listed.map((each) => (each.id === id ? { ...each, where: "here" } : each));
    return Promise.resolve(true);
  });
  row.click();
  row.click();
  await vi.waitFor(() => expect(status()).toBe(""));
  await library.refresh();
  expect(open).toHaveBeenCalledOnce();
});

it("Undo restores the last deleted text; any other action, and leaving the page, deletes it permanently", async () => {
  const { library, removal, texts } = await mount();
  const deleted = async () => {
    button("Delete", 1)?.click();
    await vi.waitFor(() => expect(status()).toBe("Deleted: Cats"));
    return part(".text-said button");
  };
  (await deleted()).click();
  await vi.waitFor(() => expect(status()).toBe("Restored: Cats"));
  expect([removal.restore, removal.finish].map((end) => end.mock.calls.length)).toEqual([1, 0]);
  const undo = await deleted();
  expect(document.activeElement).toBe(undo);
  button("Duplicate", 3)?.click();
  await vi.waitFor(() => expect(texts.duplicate).toHaveBeenCalledOnce());
  expect([removal.finish.mock.calls.length, undo.hidden]).toEqual([1, true]);
  await vi.waitFor(() => expect(status()).toBe("Copied."));
  await deleted();
  library.finish();
  expect(removal.finish).toHaveBeenCalledTimes(2);
});

it("the list follows the text of this tab, is read again for another text, and keeps the focus", async () => {
  const { library, texts } = await mount();
  const second = part("li:nth-child(2) button");
  second.focus();
  texts.current.text = "A cat sat here today.";
  await library.refreshCurrent();
  expect(part("li small").textContent).toContain("5 words");
  expect(texts.list).toHaveBeenCalledOnce();
  texts.current.id = "new";
  await library.refreshCurrent();
  expect(texts.list).toHaveBeenCalledTimes(2);
  expect(document.activeElement).toBe(second);
});

it("the result of a search is announced also if the texts are read again before it ends", async () => {
  const { library } = await mount();
  type("a");
  await vi.waitFor(() => expect(status()).toBe("2 texts"));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  spendTime(10); // a search pauses at each step
  type("whale");
  await vi.advanceTimersToNextTimerAsync(); // it has begun
  const reading = library.refresh();
  await vi.runAllTimersAsync();
  await reading;
  expect([rows(), status()]).toEqual([[], ""]);
});

it("a search pauses between short texts, too", async () => {
  const many = Array.from({ length: 40 }, (_, i) => ({ ...all[2], id: `${i}`, text: "dogs" }) as ListedText);
  const { library } = await mount({ list: () => Promise.resolve(many) });
  spendTime(5);
  const pauses = vi.spyOn(globalThis, "setTimeout");
  (part("input[type=search]") as HTMLInputElement).value = "absent";
  await library.refresh();
  expect(pauses.mock.calls.length).toBeGreaterThanOrEqual(20);
});

it("the section lists the texts if it is opened again, while its list loads or after that has failed", async () => {
  vi.spyOn(Texts.prototype, "list").mockResolvedValue([...all]);
  const tab = vi.fn<() => object | undefined>(() => ({}));
  const open = () => {
    const ui = mountMarkup("library", "libraryPanel");
    ui.library.open = true;
    offerLibrary({ ui, state: makeState(), writing: {}, tab } as unknown as LibraryPlace);
    return { panel: ui.libraryPanel, openAgain: () => ui.library.dispatchEvent(new Event("toggle")) };
  };
  const early = open();
  early.openAgain();
  await vi.waitFor(() => expect(early.panel.querySelectorAll("li")).toHaveLength(3));
  tab.mockReturnValue(undefined);
  const failed = open();
  await vi.waitFor(() =>
    expect(failed.panel.textContent).toContain("This part of the page could not be loaded"),
  );
  tab.mockReturnValue({});
  failed.openAgain();
  await vi.waitFor(() => expect(failed.panel.querySelectorAll("li")).toHaveLength(3));
});

it("a sentence of the browser loses its full stop, because it continues in a sentence of the page", () => {
  expect(reasonOf(new DOMException("There is no store.", "NotFoundError"))).toMatch(
    / \(There is no store\)$/,
  );
});
