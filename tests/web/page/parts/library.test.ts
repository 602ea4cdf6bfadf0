// @vitest-environment happy-dom
// The list of texts, mounted alone with texts that are made up.
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { Library, type LibrarySetting } from "../../../../web/page/parts/library/library.js";
import { offerLibrary, type LibraryPlace } from "../../../../web/page/parts/library/offer.js";
import { Texts, type ListedText } from "../../../../web/page/library/texts.js";
import { makeState, mountMarkup } from "../../support/page-part.js";

const all: ListedText[] = [
  { id: "a", name: "Cats", text: "A cat sat here.", changed: Date.now() - 7_200_000, where: "here" },
  { id: "b", name: undefined, text: "The dogs ran away", changed: 1e12, where: "elsewhere" },
  { id: "c", name: undefined, text: "", changed: 0, where: "nowhere" },
];

const place = document.createElement("div");
const part = (selector: string) => place.querySelector<HTMLElement>(selector) ?? document.body;
const rows = () =>
  [...place.querySelectorAll("li")].map((item) => item.querySelector(".text-name")?.textContent);
const status = () => part("[role=status]").textContent;
const button = (name: string, inside: Element = place) =>
  [...inside.querySelectorAll("button")].find((each) => (each.ariaLabel ?? each.textContent) === name) ??
  document.createElement("button");
const rowOf = (name: string) =>
  [...place.querySelectorAll("li")].find((item) => item.querySelector(".text-name")?.textContent === name) ??
  place;

function mount(change: Partial<Omit<LibrarySetting["texts"], "current">> = {}) {
  const removal = { restore: vi.fn(() => Promise.resolve()), finish: vi.fn(() => Promise.resolve()) };
  const texts = {
    list: vi.fn(() => Promise.resolve(all)),
    current: { id: "a", text: "A cat sat here." },
    rename: vi.fn(() => Promise.resolve()),
    duplicate: vi.fn(() => Promise.resolve()),
    remove: vi.fn(() => Promise.resolve(removal)),
    exportAll: vi.fn(() => Promise.resolve("{}")),
    importAll: vi.fn(() => Promise.resolve({ added: 2, known: 1 })),
    ...change,
  };
  const setting = {
    place,
    texts,
    open: vi.fn((id?: string) => Promise.resolve(id !== "b")),
    stop: vi.fn(() => Promise.resolve()),
    leave: vi.fn<(sentence: () => string) => void>(),
  };
  return { library: new Library(setting), removal, ...setting };
}

beforeEach(() => {
  document.body.replaceChildren(place);
});

it("the library lists each text with its name, its age, its length and where it is open", async () => {
  const { library } = mount();
  await library.refresh();
  expect(rows()).toEqual(["Cats", "The dogs ran away", "Untitled"]);
  expect([...place.querySelectorAll("small")].map(({ textContent }) => textContent)).toEqual([
    "2 hours ago · 4 words · open",
    "Sep 9, 2001 · 4 words · open in another tab",
    "0 words",
  ]);
  expect(part("[aria-current=true]").textContent).toContain("Cats");
});

it("the library opens a text once the model has stopped, and says why another tab's is not opened", async () => {
  const { library, open, stop, leave } = mount();
  await library.refresh();
  part("li:nth-child(2) button").click();
  await vi.waitFor(() =>
    expect(status()).toBe("The dogs ran away is open in another tab: close it there first."),
  );
  expect(leave).not.toHaveBeenCalled();
  part("li:nth-child(3) button").click();
  await vi.waitFor(() => expect(leave).toHaveBeenCalled());
  expect(leave.mock.calls[0]?.[0]()).toBe("Opened: Untitled");
  expect(open.mock.calls).toEqual([["b"], ["c"]]);
  expect(stop).toHaveBeenCalledBefore(open);
  button("New text").click();
  await vi.waitFor(() => expect(open).toHaveBeenLastCalledWith(undefined));
});

it("a text is renamed in its place; Escape keeps its name", async () => {
  const { library, texts } = mount();
  await library.refresh();
  const ask = (value: string, key: string) => {
    button("Rename", rowOf("Cats")).click();
    const field = part("li input") as HTMLInputElement;
    expect(field.ariaLabel).toBe("Name of Cats");
    field.value = value;
    field.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  };
  ask("Dogs", "Escape");
  ask("Cats", "Enter");
  expect(rows()).toHaveLength(3);
  expect(texts.rename).not.toHaveBeenCalled();
  let announced: string | null = null;
  place.addEventListener("focusin", ({ target }) => (announced = (target as Element).ariaLabel));
  ask("Dogs", "Enter");
  expect(announced).toBe("More for Dogs");
  await vi.waitFor(() => expect(texts.rename).toHaveBeenCalledWith("a", "Dogs"));
});

it("Undo restores a deleted text; any other action deletes it permanently", async () => {
  const { library, texts, removal } = mount();
  await library.refresh();
  const remove = async () => {
    button("Delete", rowOf("Cats")).click();
    await vi.waitFor(() => expect(status()).toBe("Deleted: Cats"));
  };
  await remove();
  expect(document.activeElement).toBe(button("Undo"));
  button("Undo").click();
  await vi.waitFor(() => expect(status()).toBe("Restored: Cats"));
  expect(removal.restore).toHaveBeenCalledOnce();
  expect(removal.finish).not.toHaveBeenCalled();
  expect(button("Undo").hidden).toBe(true);
  await remove();
  button("Duplicate", rowOf("Untitled")).click();
  await vi.waitFor(() => expect(texts.duplicate).toHaveBeenCalledWith("c", "Untitled (copy)"));
  expect(removal.finish).toHaveBeenCalledOnce();
  await remove();
  library.finish(); // the page is left
  expect(removal.finish).toHaveBeenCalledTimes(2);
});

it("a second press of Delete or of a row does nothing, and Undo still restores the text", async () => {
  let listed = all;
  const { library, texts, removal, open } = mount({ list: () => Promise.resolve(listed) });
  await library.refresh();
  vi.mocked(texts.remove).mockImplementation(() => {
    listed = listed.slice(1);
    return Promise.resolve(removal);
  });
  const press = button("Delete", rowOf("Cats"));
  press.click();
  press.click();
  await vi.waitFor(() => expect(status()).toBe("Deleted: Cats"));
  await library.refresh();
  expect(texts.remove).toHaveBeenCalledOnce();
  expect(removal.finish).not.toHaveBeenCalled();
  expect(button("Undo").hidden).toBe(false);

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

it("the focus stays in the list while the texts are read again", async () => {
  const { library } = mount();
  await library.refresh();
  const second = part("li:nth-child(2) button");
  second.focus();
  await library.refresh();
  expect(document.activeElement).toBe(second);
});

it("the list follows the text of this tab, and is read again when the tab opens another text", async () => {
  const { library, texts } = mount();
  await library.refresh();
  texts.current.text = "A cat sat here today.";
  await library.refreshCurrent();
  expect(part("li small").textContent).toContain("5 words");
  expect(texts.list).toHaveBeenCalledOnce();
  texts.current.id = "new";
  await library.refreshCurrent();
  expect(texts.list).toHaveBeenCalledTimes(2);
});

it("the search lists what it finds in texts and names, and keeps the rows", async () => {
  const { library } = mount();
  await library.refresh();
  const field = part("input[type=search]") as HTMLInputElement;
  const type = (query: string) => {
    field.value = query;
    field.dispatchEvent(new Event("input"));
  };
  type("CAT");
  await vi.waitFor(() => expect(rows()).toEqual(["Cats"]));
  expect(part("mark").textContent).toBe("cat");
  expect(status()).toBe("1 text");
  const [row] = place.querySelectorAll("li");
  type("cats"); // its name
  await vi.waitFor(() => expect(place.querySelector("mark")).toBeNull());
  expect(rows()).toEqual(["Cats"]);
  type("whale");
  await vi.waitFor(() => expect(place.textContent).toContain("No text contains “whale”."));
  type("");
  await vi.waitFor(() => expect(rows()).toHaveLength(3));
  expect(place.querySelector("li")).toBe(row); // it is not made again
});

it("names and found passages run in their own direction", async () => {
  const { library } = mount();
  await library.refresh();
  const texts = [...place.querySelectorAll(".text-name, li p")];
  expect(texts.map((text) => text.getAttribute("dir"))).toEqual(Array<string>(6).fill("auto"));
});

it("the result of a search is announced also if the texts are read again before it ends", async () => {
  const { library } = mount();
  await library.refresh();
  const type = (query: string) => {
    const field = part("input[type=search]") as HTMLInputElement;
    field.value = query;
    field.dispatchEvent(new Event("input"));
  };
  type("a");
  await vi.waitFor(() => expect(status()).toBe("2 texts"));
  onTestFinished(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 10)); // a search pauses at each step
  type("whale");
  await vi.advanceTimersToNextTimerAsync(); // it has begun
  const reading = library.refresh();
  await vi.runAllTimersAsync();
  await reading;
  expect(rows()).toEqual([]);
  expect(status()).toBe("");
});

it("the library says why the texts cannot be listed, and why nothing was changed", async () => {
  const refused = () => Promise.reject(new DOMException("", "SecurityError"));
  const { library } = mount({ list: refused });
  await library.refresh();
  expect(place.textContent).toContain(
    "Your texts cannot be shown: this browser, or this window, does not allow it.",
  );
  const full = () => Promise.reject(new DOMException("", "QuotaExceededError"));
  const { library: other } = mount({ remove: full });
  await other.refresh();
  button("Delete", rowOf("Cats")).click();
  await vi.waitFor(() => expect(status()).toBe("Nothing was changed: there is no room left."));
  expect(button("Undo").hidden).toBe(true);
});

it("an empty library says what it is for", async () => {
  const { library } = mount({ list: () => Promise.resolve(all.slice(2)) });
  await library.refresh();
  expect(part(":scope > p").textContent).toBe("Everything you write is kept here, on this device.");
});

it("a search pauses between short texts, too", async () => {
  const many = Array.from(
    { length: 40 },
    (_, i) => ({ ...all[1], id: String(i), where: "nowhere" }) as ListedText,
  );
  const { library } = mount({ list: vi.fn(() => Promise.resolve(many)) });
  await library.refresh();
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (now += 5)); // each step takes 5 ms
  const pauses = vi.spyOn(globalThis, "setTimeout");
  const search = part("input[type=search]") as HTMLInputElement;
  search.value = "absent";
  await library.refresh();
  expect(pauses.mock.calls.length).toBeGreaterThanOrEqual(20);
  vi.restoreAllMocks();
});

describe("the section of the texts", () => {
  /** The section, open and alone; `tab` returns what stores the texts. */
  function open(tab: () => object | undefined) {
    const ui = mountMarkup("library", "libraryPanel");
    vi.spyOn(Texts.prototype, "list").mockResolvedValue([...all]);
    onTestFinished(() => void vi.restoreAllMocks());
    ui.library.open = true;
    offerLibrary({ ui, state: makeState(), writing: {}, tab } as unknown as LibraryPlace);
    return { panel: ui.libraryPanel, openAgain: () => ui.library.dispatchEvent(new Event("toggle")) };
  }

  it("the texts are listed if the section is opened again before its list has loaded", async () => {
    const { panel, openAgain } = open(() => ({}));
    openAgain();
    await vi.waitFor(() => expect(panel.querySelectorAll("li")).toHaveLength(3));
  });

  it("a list that could not be loaded is loaded when the section is opened again", async () => {
    const tab = vi.fn<() => object | undefined>(() => undefined);
    const { panel, openAgain } = open(tab);
    await vi.waitFor(() => expect(panel.textContent).toContain("This part of the page could not be loaded"));
    tab.mockReturnValue({});
    openAgain();
    await vi.waitFor(() => expect(panel.querySelectorAll("li")).toHaveLength(3));
  });
});
