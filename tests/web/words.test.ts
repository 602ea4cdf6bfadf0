// @vitest-environment happy-dom
// The words of the elements: by language, as set by a page, and invalid ones.
import { beforeEach, expect, it, vi } from "vitest";
import { ElementWords, fill, setWords, type Words } from "../../web/src/element/words.js";

function make(lang?: string) {
  const around = document.createElement("section");
  const element = document.createElement("div");
  if (lang !== undefined) around.lang = lang;
  around.append(element);
  document.body.replaceChildren(around);
  const onChange = vi.fn();
  return { around, element, onChange, words: new ElementWords(element, onChange) };
}

beforeEach(() => document.documentElement.removeAttribute("lang"));

it.each([
  [undefined, "Write"],
  ["", "Write"],
  ["en", "Write"],
  ["de", "Schreiben"],
  ["DE-at", "Schreiben"],
  ["de-CH-1996", "Schreiben"],
  ["den", "Write"],
  ["fi", "Write"],
  ["-", "Write"],
])("the button for lang=%j has the label %j", (lang, expected) => {
  expect(make(lang).words.get("write")).toBe(expected);
});

it("the language is that of the nearest element around it, also outside a shadow tree", () => {
  document.documentElement.lang = "de";
  const { words, around, element } = make();
  expect(words.get("stop")).toBe("Stopp");
  around.lang = "en";
  expect(words.get("stop")).toBe("Stop");
  const host = document.createElement("div");
  host.lang = "de";
  host.attachShadow({ mode: "open" }).append(element);
  around.append(host);
  expect(words.get("stop")).toBe("Stopp");
});

it("the words follow changes of the language while the element is observed", async () => {
  const { words, around, element, onChange } = make("en");
  words.watch();
  expect(onChange).toHaveBeenCalledTimes(1);
  const changed = async (change: () => void) => {
    onChange.mockClear();
    change();
    await new Promise((later) => setTimeout(later));
    return onChange.mock.calls.length;
  };
  expect(await changed(() => (around.lang = "de"))).toBe(1);
  expect(await changed(() => (document.documentElement.lang = "fr"))).toBe(0); // a nearer `lang` decides
  expect(await changed(() => (element.lang = "en"))).toBe(1);
  expect(await changed(() => setWords("sv", { stop: "Stopp" }))).toBe(1);
  expect(await changed(() => (words.overrides = { stop: "Halt" }))).toBe(1);
  words.unwatch();
  expect(await changed(() => (element.lang = "de"))).toBe(0);
  expect(await changed(() => setWords("sv", {}))).toBe(0);
});

it("words are taken from the element, the page, the general language, the built-in ones and English, in this order", () => {
  const { words, around } = make("fr-CA");
  setWords("fr", { write: "Écrire", stop: "Arrêter" });
  setWords("fr-ca", { stop: "Stopper" });
  const names = ["write", "stop", "writing"] as const;
  expect(names.map((name) => words.get(name))).toEqual(["Écrire", "Stopper", "Writing…"]);
  words.overrides = { stop: "Assez" };
  expect(words.get("stop")).toBe("Assez");
  expect(words.overrides).toEqual({ stop: "Assez" });
  around.lang = "de";
  setWords("de", { write: "Weiter" });
  expect([words.get("write"), words.get("stopped")]).toEqual(["Weiter", "Angehalten."]);
  setWords("de", {});
  words.overrides = { write: undefined } as unknown as Partial<Words>;
  expect(words.get("write")).toBe("Schreiben");
});

it.each([
  [null, "words is null, expected an object"],
  ["Write", 'words is "Write", expected an object'],
  [["Write"], "words is an array, expected an object"],
  [{ wirte: "x" }, 'words has the unknown name "wirte", expected one of write, stop,'],
  [{ toString: "x" }, 'words has the unknown name "toString"'],
  [{ write: 5 }, "words.write is 5, expected text"],
  [{ failures: "no" }, 'words.failures is "no", expected an object'],
  [{ failures: { network: null } }, "words.failures.network is null, expected text"],
])("the words %j are refused: %s", (given, message) => {
  const { words } = make();
  expect(() => (words.overrides = given as Partial<Words>)).toThrow(message);
  expect(() => setWords("en", given as Partial<Words>)).toThrow(message);
  expect(words.get("write")).toBe("Write");
});

it("an error is shown with its own message in English, by its code in German, or as the page set", () => {
  const error = Object.assign(new Error("503"), { code: "network" });
  const { words, around } = make("en");
  expect(words.ofError(error)).toBe("Something went wrong: 503");
  expect(words.ofError("no error")).toBe("Something went wrong: no error");
  around.lang = "de";
  expect(words.ofError(error)).toMatch(/^Das Modell konnte nicht geladen werden/);
  expect(words.ofError(new Error("x"))).toBe("Es hat nicht geklappt: x");
  words.overrides = { failures: { network: "Keine Verbindung ({message})" } };
  expect(words.ofError(error)).toBe("Keine Verbindung (503)");
  words.overrides = { failed: "Oh." };
  expect(words.ofError(error)).toBe("Oh.");
});

it("a page's sentence for all errors leaves the built-in sentences for single codes in place", () => {
  const error = Object.assign(new Error("503"), { code: "network" });
  const { words } = make("de");
  setWords("de", { failed: "Oh.", failures: { corrupt: "Kaputt." } });
  expect(words.ofError(error)).toMatch(/^Das Modell konnte nicht geladen werden/);
  expect(words.ofError(Object.assign(new Error("x"), { code: "corrupt" }))).toBe("Kaputt.");
  expect(words.ofError(new Error("x"))).toBe("Oh.");
  setWords("de", {});
  setWords("de-AT", { failed: "Na geh." });
  const austrian = make("de-AT").words;
  expect(austrian.ofError(error)).toMatch(/^Das Modell konnte nicht geladen werden/);
  expect(austrian.ofError(new Error("x"))).toBe("Na geh.");
  setWords("de-AT", {});
});

it("a name in braces without a value stays", () => {
  expect(fill("{text}. {hint} {else}", { text: "$& {hint}", hint: "Tab" })).toBe("$& {hint}. Tab {else}");
});

it.each([
  [0, "0 kB", "0 kB"],
  [999_000, "999 kB", "999 kB"],
  [1e6, "1.0 MB", "1,0 MB"],
  [9_940_000, "9.9 MB", "9,9 MB"],
  [213_400_000, "213 MB", "213 MB"],
  [4.26e9, "4.3 GB", "4,3 GB"],
])("%i bytes are written as %j, in German as %j", (bytes, english, german) => {
  const { words, around } = make("en");
  const size = () => words.size(bytes).replace("\u00a0", " ");
  expect(size()).toBe(english);
  around.lang = "de";
  expect(size()).toBe(german);
  around.lang = "no such language";
  expect(size()).toBe(english);
});

it.each([
  [11.2, "12 sec"],
  [60, "1 min"],
  [61, "2 min"],
])("%f seconds are written as %j", (seconds, text) => {
  expect(make("en").words.time(seconds)).toBe(text);
});
