// The text of this tab: brought back when the page is opened, and stored as it changes. Each tab has a text of its own.
import { differenceOf } from "../document/difference.js";
import { parseKept } from "../document/parse-kept.js";
import { isTypedInField, keptText, keptWithHistory, restoreText, typeInField } from "../document/surface.js";
import { elements as ui } from "../dom/elements.js";
import { options } from "../parts/options/options.js";
import { parseOptions } from "./parse-options.js";
import { lastSeed, restoreSeed } from "../assistant/writing.js";
import { claim } from "./claims.js";
import { writeLastChange } from "./last-change.js";
import { hideUnstored, showUnstored } from "../parts/library/notice.js";
import { oftenEnough } from "./often.js";
import { readSession, writeSession } from "./session.js";
import { TextStore, type StoredVersion } from "./store.js";
import { takeText, type TakenText } from "./take.js";
import { takeTextInPage, textForPage } from "./text-in-page.js";
import { phrase } from "../language/start.js";
import { showError } from "../state/messages.js";

interface OwnText {
  readonly id: string;
  /** Of what was handed to the store last; 0: nothing was. */
  version: number;
  /** What the store has for sure. */
  stored: { version: number; text: string };
  /** When it was changed last. */
  changed: number;
  release: () => void;
}

/** Pages of one host share its storage, and files on a disk do; a folder's address has two forms. */
const path = location.pathname.replace(/(?<=\/)index\.html$/, "");
const idKey = `gpt2-text-id ${path}`;
const typedKey = `gpt2-typed ${path}`;
const names = { prefix: `gpt2-text ${path} `, firstText: ui.draft.defaultValue };
const nameOf = (id: string) => names.prefix + id;

let store: TextStore | undefined;
/** undefined until the stored text is read: nothing may be stored before. */
let own: OwnText | undefined;
let isChanged = false;
let isBeingStored = false;
/** Whether this page was left; it may be shown again. */
let isLeft = false;

const openStore = async () => (store ??= await TextStore.open(path, () => (store = undefined)));

/** A text that nothing is stored of, from now on this tab's. */
function beginText(): OwnText {
  const id = Array.from(crypto.getRandomValues(new Uint32Array(4)), (each) => each.toString(16)).join("-");
  const stored = { version: 0, text: names.firstText };
  const begun: OwnText = { id, version: 0, stored, changed: 0, release: () => undefined };
  void claim(nameOf(id), 0).then((release) => (begun.release = release ?? begun.release));
  writeSession(idKey, id);
  return begun;
}

const storeSoon = oftenEnough(() => {
  if (!isBeingStored) storeNow(); // else when that is done
});

/** So many letters at once are stored at once. */
const manyLetters = 50_000;

/** To be called after each change of what is stored, with how many letters it adds or takes away. */
export function noteChange(letters = 0): void {
  isChanged = true;
  if (own) own.changed = store?.timeOfChange() ?? Date.now();
  if (letters < manyLetters || isBeingStored) storeSoon();
  else storeNow();
}

/** Of a store that failed: until it is tried again. */
const tryAgainMs = 5000;

/** What is stored with a text. */
const besideText = () => ({ options: options.peek("own"), seed: lastSeed() });

/** Hands the text to the store, if there is more than every page begins with; gives it. */
function storeNow(): string | undefined {
  if (!own || (!isChanged && own.version === 0)) return undefined;
  const text = own;
  const kept = keptWithHistory();
  const content = { ...kept, ...besideText() };
  const next = { version: (own.version += 1), changed: own.changed, content };
  isChanged = false;
  isBeingStored = true;
  const put = store ? store.put(own.id, next) : openStore().then((opened) => opened.put(text.id, next));
  const whole = kept.draft ?? kept.text;
  put
    .then(() => {
      text.stored = { version: next.version, text: whole };
      writeLastChange(nameOf(text.id), undefined);
      hideUnstored();
    }, failStoring)
    .finally(() => {
      isBeingStored = false;
      if (isChanged) storeSoon();
    });
  return whole;
}

function storeAgain(): void {
  isChanged = true;
  storeSoon();
}

function failStoring(error: unknown): void {
  showUnstored(error);
  setTimeout(storeAgain, tryAgainMs);
}

/** Leaves the text as it is stored: what this tab shows from now on is another one. */
export function setAside(): void {
  if (!own || keptText().text.trim() === "") return;
  storeNow();
  if (own.version === 0) return; // it is the one that every page begins with
  own.release();
  own = beginText();
}

/** What the store may not hear of in time. */
function storeLastChange({ id, stored: { version, text } }: OwnText, whole: string): void {
  const change = differenceOf(text, whole) ?? { from: 0, to: 0, insert: "" };
  writeLastChange(nameOf(id), { version, change, caret: keptText().caret, beside: besideText() });
}

/** Stores what there is, as the page may be gone at once. */
function leave(): void {
  if (isLeft) return;
  const whole = storeNow();
  if (own && whole !== undefined) storeLastChange(own, whole);
  else if (isTypedInField()) writeSession(typedKey, ui.draft.value);
}

/** The text of a version, as the store has it. */
function textIn({ content }: StoredVersion): string {
  const kept = parseKept(content);
  return kept?.draft ?? kept?.text ?? names.firstText;
}

async function show({ id, kept, beside, stored, release }: TakenText): Promise<void> {
  const { version, changed } = stored;
  if (id === undefined) own = beginText();
  else own = { id, version, changed, release, stored: { version, text: textIn(stored) } };
  writeSession(idKey, own.id);
  await restoreText(kept);
  const { options: set, seed } = Object(beside) as Record<string, unknown>;
  options.show(parseOptions(set));
  if (typeof seed === "number") restoreSeed(seed);
  if (id === undefined || kept.draft !== undefined) noteChange(); // not stored yet
}

/** For so long the editor waits for the store. */
const mostMs = 4000;

/** The text that a page in one file was saved with, as one that nothing is stored of yet. */
function readTextInPage(): TakenText | undefined {
  try {
    const found = takeTextInPage();
    const stored = { version: 0, changed: 0, content: undefined };
    return found && { ...found, id: undefined, stored, release: () => undefined };
  } catch {
    showError(() => `${phrase("damagedFile")}.`);
    return undefined;
  }
}

/** The text of this tab as a page in one file can begin with it; what can be undone stays here. */
export function textToSave(): string | undefined {
  const { history: _, ...kept } = keptWithHistory();
  return (kept.draft ?? kept.text) === "" ? undefined : textForPage({ ...kept, ...besideText() });
}

/** Brings back this tab's text; not once `isLate`, as the visitor is at work by then. */
async function restore(isLate: () => boolean): Promise<void> {
  const inPage = readTextInPage();
  try {
    const taken = await (inPage ?? takeText(await openStore(), readSession(idKey), names));
    if (isLate()) taken?.release();
    else if (taken) await show(taken);
  } catch (error) {
    failStoring(error);
  }
  own ??= beginText();
  if (isChanged || isTypedInField()) noteChange();
}

/** The page is shown again, with all it had: meanwhile another tab may have taken its text. */
async function comeBack(): Promise<void> {
  isLeft = false;
  if (!own) return;
  const release = await claim(nameOf(own.id), 0);
  if (release) own.release = release;
  else {
    own = beginText();
    noteChange();
  }
}

/** Brings back the text, and stores it from now on. Resolves when it is there, or will not come. */
export async function keepText(): Promise<void> {
  typeInField(readSession(typedKey));
  writeSession(typedKey, undefined);
  ui.draft.addEventListener("input", () => noteChange());
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") leave();
  });
  addEventListener("pagehide", () => {
    leave();
    isLeft = true;
    own?.release();
  });
  addEventListener("pageshow", ({ persisted }) => void (persisted && comeBack()));
  let isLate = false;
  const late = new Promise<void>((resolve) => {
    setTimeout(() => {
      isLate = !own;
      if (isLate) showUnstored(new DOMException("", "TimeoutError"));
      resolve();
    }, mostMs);
  });
  await Promise.race([restore(() => isLate), late]);
}
