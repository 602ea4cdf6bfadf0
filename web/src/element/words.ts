// The words of the elements. English and German are built in; a page can set other languages and change words.
import { describeValue } from "../shared/refuse.js";
import { refuse } from "./refuse.js";

/** `{size}`, `{rate}`, `{time}`, `{message}`, `{text}` and `{hint}` are replaced by values. */
export interface Words {
  /** The button while the model is idle. */
  write: string;
  /** The button while the model writes. */
  stop: string;
  /** The status, while the model writes. */
  writing: string;
  /** The status, after the writing was stopped. */
  stopped: string;
  /** The status and the progress bar, while the model is loaded. */
  loading: string;
  /** The status, once the size is known: `{size}`. */
  loadingSize: string;
  /** The text beside the progress bar: `{rate}` per second, and the remaining `{time}`. */
  pace: string;
  /** The status after an error. Its `{message}` is English. */
  failed: string;
  /** The name of the writer's field for screen readers, if it has no label. */
  field: string;
  /** The browser's message for a required writer that is empty. */
  required: string;
  /** What screen readers say when a suggestion appears: its `{text}`, and the `{hint}`. */
  suggestion: string;
  /** Which keys take or dismiss a suggestion. */
  hint: string;
  /** Texts that replace `failed`, by the code of the error: `{ network: "…" }`. */
  failures: Readonly<Record<string, string>>;
}

/** The names of the words that are single texts. */
export type Word = Exclude<keyof Words, "failures">;

const english: Words = {
  write: "Write",
  stop: "Stop",
  writing: "Writing…",
  stopped: "Stopped.",
  loading: "Loading the model",
  loadingSize: "Loading the model, {size}",
  pace: "{rate}/s, {time} left",
  failed: "Something went wrong: {message}",
  field: "Text to continue",
  required: "Please fill in this field.",
  suggestion: "Suggestion: {text}. {hint}",
  hint: "Tab takes it, Escape dismisses it.",
  failures: {},
};

const german: Words = {
  write: "Schreiben",
  stop: "Stopp",
  writing: "Schreibt…",
  stopped: "Angehalten.",
  loading: "Das Modell wird geladen",
  loadingSize: "Das Modell wird geladen, {size}",
  pace: "{rate}/s, noch {time}",
  failed: "Es hat nicht geklappt: {message}",
  field: "Text, der weitergeschrieben wird",
  required: "Bitte dieses Feld ausfüllen.",
  suggestion: "Vorschlag: {text}. {hint}",
  hint: "Tab übernimmt ihn, Escape verwirft ihn.",
  failures: {
    network: "Das Modell konnte nicht geladen werden. Bitte die Verbindung prüfen und noch einmal versuchen.",
    "not-found": "Das Modell wurde nicht gefunden.",
    corrupt: "Das Modell ist beschädigt.",
    unsupported: "Dieser Browser kann das Modell nicht ausführen.",
    "out-of-memory": "Der Arbeitsspeicher reicht für das Modell nicht aus.",
    "worker-died": "Das Modell ist ausgefallen. Bitte noch einmal versuchen.",
  },
};

const builtIn: Readonly<Record<string, Words>> = { en: english, de: german };
/** The words given to `setWords`, by language. */
const given = new Map<string, Partial<Words>>();
/** Called when `given` changes: one function for each element in the page. */
const listeners = new Set<() => void>();

function readTexts(where: string, texts: unknown, known?: object): Record<string, string> {
  if (typeof texts !== "object" || texts === null || Array.isArray(texts))
    return refuse(`${where} is ${describeValue(texts)}, expected an object`);
  for (const [name, text] of Object.entries(texts)) {
    if (known && !Object.hasOwn(known, name))
      refuse(
        `${where} has the unknown name ${describeValue(name)}, expected one of ${Object.keys(known).join(", ")}`,
      );
    if (text !== undefined && typeof text !== "string")
      refuse(`${where}.${name} is ${describeValue(text)}, expected text`);
  }
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined));
}

/** Checks `words` from a caller; `where` names them in errors. */
export function readWords(where: string, words: unknown): Partial<Words> {
  const { failures, ...texts } = Object(words) as { failures?: unknown };
  const isObject = typeof words === "object" && words !== null && !Array.isArray(words);
  const read: Partial<Words> = readTexts(where, isObject ? texts : words, english);
  return failures === undefined ? read : { ...read, failures: readTexts(`${where}.failures`, failures) };
}

/**
 * Sets words of all elements in a language, such as "fr" or "de-AT". Words that you do not set stay as built in for "en"
 * and "de", and are English for other languages.
 */
export function setWords(language: string, words: Partial<Words>): void {
  given.set(language.toLowerCase(), readWords("words", words));
  for (const each of listeners) each();
}

/** The language of `element`: the `lang` of the nearest element around it, also outside its shadow tree. */
function languageOf(element: Element): string {
  const nearest = element.closest("[lang]");
  if (nearest) return nearest.getAttribute("lang") ?? "";
  const root = element.getRootNode();
  return root instanceof ShadowRoot ? languageOf(root.host) : "";
}

/** `text` with `values` in place of the names in braces. */
export const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all);

/** The words of one element, in its language. */
export class ElementWords {
  private readonly element: Element;
  private readonly onChange: () => void;
  private readonly observer: MutationObserver;
  private own: Partial<Words> = {};
  /** The language at the last call of `onChange`. */
  private language = "";

  /** Calls `onChange` when the words have changed, while `watch` observes them. */
  constructor(element: Element, onChange: () => void = () => {}) {
    this.element = element;
    this.onChange = onChange;
    this.observer = new MutationObserver(() => {
      if (languageOf(element) !== this.language) this.refresh();
    });
  }

  /** Words of this element alone. They override all others. */
  get overrides(): Partial<Words> {
    return this.own;
  }
  set overrides(words: Partial<Words>) {
    this.own = readWords("words", words);
    this.refresh();
  }

  /** Observes the languages around the element's current place. */
  watch(): void {
    this.unwatch();
    listeners.add(this.refresh);
    for (let root: Node | undefined = this.element.getRootNode(); root;) {
      this.observer.observe(root, { subtree: true, attributeFilter: ["lang"] });
      root = root instanceof ShadowRoot ? root.host.getRootNode() : undefined;
    }
    this.refresh();
  }

  unwatch(): void {
    listeners.delete(this.refresh);
    this.observer.disconnect();
  }

  private readonly refresh = (): void => {
    this.language = languageOf(this.element);
    this.onChange();
  };

  /** From the element's own words to the language's, the more general language's, and English. */
  private *sources(): Generator<Partial<Words>> {
    yield this.own;
    for (let tag = languageOf(this.element).toLowerCase(); tag !== ""; tag = tag.replace(/-?[^-]*$/, "")) {
      const [set, known] = [given.get(tag), builtIn[tag]];
      if (set) yield set;
      if (known) yield known;
    }
    yield english;
  }

  get(name: Word): string {
    for (const words of this.sources()) if (words[name] !== undefined) return words[name];
    return "";
  }

  /** The message for an error: from the element's own words, else the nearest text for its code, else `failed`. */
  ofError(error: unknown): string {
    const { code = "", message = String(error) } = Object(error) as { code?: string; message?: string };
    let text = this.own.failures?.[code] ?? this.own.failed;
    for (const { failures } of this.sources()) text ??= failures?.[code];
    return fill(text ?? this.get("failed"), { message });
  }

  /** A readable size in the element's language, with at least two digits: "1.3 MB", "213 MB". */
  size(bytes: number): string {
    const [unit, one] =
      bytes < 1e6
        ? (["kilobyte", 1e3] as const)
        : bytes < 1e9
          ? (["megabyte", 1e6] as const)
          : (["gigabyte", 1e9] as const);
    return this.measure(bytes / one, unit, one > 1e3 && bytes < 10 * one ? 1 : 0);
  }

  /** A readable duration: "12 sec", "3 min". */
  time(seconds: number): string {
    return seconds < 60
      ? this.measure(Math.ceil(seconds), "second", 0)
      : this.measure(Math.ceil(seconds / 60), "minute", 0);
  }

  private measure(value: number, unit: string, digits: number): string {
    const form = {
      style: "unit",
      unit,
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    } as const;
    try {
      return new Intl.NumberFormat(languageOf(this.element) || "en", form).format(value);
    } catch {
      return new Intl.NumberFormat("en", form).format(value); // `lang` is not a valid language
    }
  }
}
