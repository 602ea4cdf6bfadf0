// What a screen reader announces: whole sentences, one after another, at reading pace. A sentence that replaces another too
// soon is never heard, and a second live region would be announced before the sentences that still wait.
import { make } from "../../dom/make.js";
import { hasFlag } from "../../state/stored-flags.js";

const sentenceEnd = /[.!?…]["”’')\]]*\s|\n/g;

/** A lone full stop or a line of dashes waits for the next sentence. */
const hasWords = (text: string) => /[\p{L}\p{N}]/u.test(text);

/** `sentence` without the spaces around it, and without a comma before it: the model goes on in the visitor's sentence. */
const asSpoken = (sentence: string) => sentence.trim().replace(/^[,;:]\s*/, "");

/** How long a screen reader takes for a sentence: a short pause, then about 250 words a minute. */
const readingMs = (sentence: string) => 300 + sentence.length * 40;

/** The name of the stored flag that silences the model's text. */
export const silence = "silence";

interface Utterance {
  text: string;
  /** The model's text, the state of the work, or another notice. Of the last two, only the newest that waits is announced. */
  kind: "text" | "status" | "notice";
}

export class Speech {
  /** The beginning of a sentence that is not complete yet. */
  private unsaid = "";
  private waiting: Utterance[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly say: (utterance: Utterance) => void;
  private readonly isSilent: () => boolean;

  /** Calls `say` for each sentence in order. Skips the model's text while `isSilent()` is true. */
  constructor(say: (utterance: Utterance) => void, isSilent: () => boolean) {
    this.say = say;
    this.isSilent = isSilent;
  }

  /** Queues the complete sentences of the model's text, and keeps the rest. */
  add(text: string): void {
    if (this.isSilent()) return;
    this.unsaid += text;
    let end = 0;
    for (const match of this.unsaid.matchAll(sentenceEnd)) {
      const next = match.index + match[0].length;
      const sentence = this.unsaid.slice(end, next);
      if (!hasWords(sentence)) continue;
      this.queue({ text: asSpoken(sentence), kind: "text" });
      end = next;
    }
    this.unsaid = this.unsaid.slice(end);
  }

  /** Queues what is left, at the end of the text. */
  finish(): void {
    if (hasWords(this.unsaid)) this.queue({ text: asSpoken(this.unsaid), kind: "text" });
    this.unsaid = "";
  }

  /** Announces the state of the work after the model's text; "" drops one that still waits. */
  status(text: string): void {
    this.replace({ text, kind: "status" });
  }

  /** Announces something else. */
  notice(text: string): void {
    this.replace({ text, kind: "notice" });
  }

  /** Drops the model's text that still waits. */
  hush(): void {
    this.unsaid = "";
    this.waiting = this.waiting.filter(({ kind }) => kind !== "text");
  }

  private replace(utterance: Utterance): void {
    this.waiting = this.waiting.filter(({ kind }) => kind !== utterance.kind);
    if (utterance.text !== "") this.queue(utterance);
  }

  private queue(utterance: Utterance): void {
    this.waiting.push(utterance);
    if (this.timer === undefined) this.sayNext();
  }

  private sayNext(): void {
    this.timer = undefined;
    const next = this.waiting.shift();
    if (!next) return;
    this.say(next);
    this.timer = setTimeout(() => this.sayNext(), readingMs(next.text));
  }
}

/** How many of the last utterances stay in the page, so that a reader can go back to them. */
const mostShown = 20;

/** Appends an utterance: a screen reader finishes one before it begins the next. */
function show(spoken: HTMLElement, { text, kind }: Utterance): void {
  const said = make("div", {}, text);
  if (kind !== "text") said.lang = document.documentElement.lang; // the model's text keeps that of `spoken`
  spoken.append(said);
  while (spoken.childElementCount > mostShown) spoken.firstElementChild?.remove();
}

/** Announces in the live region `spoken`, unless the visitor has switched that off. */
export const speechIn = (spoken: HTMLElement): Speech =>
  new Speech(
    (utterance) => show(spoken, utterance),
    () => hasFlag(silence),
  );
