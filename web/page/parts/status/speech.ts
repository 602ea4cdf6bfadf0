// What is said to those who hear the page: whole sentences, one after another, at the pace of a reader. A sentence that took the
// place of another too soon would never be heard, and one that is said beside the others would come before them.
import { elements as ui } from "../../dom/elements.js";
import { isKept } from "../../state/kept-choice.js";

const sentenceEnd = /[.!?…]["”’')\]]*\s|\n/g;

/** What is only a full stop, or a line of dashes, waits for the sentence after it. */
const hasWords = (text: string) => /[\p{L}\p{N}]/u.test(text);

/** How long a screen reader takes for a sentence: a short pause, and 250 words of five letters in a minute. */
const readingMs = (sentence: string) => 300 + sentence.length * 40;

/** Under this name it is kept that what the model writes is not to be said. */
export const silence = "silence";

interface Utterance {
  text: string;
  /**
   * What the model writes, how the page's work goes, or what the page has to say beside that. Of the last two only the newest
   * one that waits is true.
   */
  kind: "text" | "status" | "notice";
}

export class Speech {
  /** Of a sentence that is not whole yet. */
  private unsaid = "";
  private waiting: Utterance[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly say: (utterance: Utterance) => void;
  private readonly isSilent: () => boolean;

  /** `say` is called for each sentence in its turn. What the model writes is left out while it `isSilent`. */
  constructor(say: (utterance: Utterance) => void, isSilent: () => boolean) {
    this.say = say;
    this.isSilent = isSilent;
  }

  /** Says the sentences of what the model writes that are whole, and keeps the rest. */
  add(text: string): void {
    if (this.isSilent()) return;
    this.unsaid += text;
    let end = 0;
    for (const match of this.unsaid.matchAll(sentenceEnd)) {
      const next = match.index + match[0].length;
      const sentence = this.unsaid.slice(end, next);
      if (!hasWords(sentence)) continue;
      this.queue({ text: sentence.trim(), kind: "text" });
      end = next;
    }
    this.unsaid = this.unsaid.slice(end);
  }

  /** Says what is left, when nothing more comes. */
  finish(): void {
    if (hasWords(this.unsaid)) this.queue({ text: this.unsaid.trim(), kind: "text" });
    this.unsaid = "";
  }

  /** Says how the work goes, after what the model has written so far; "": nothing is to be said of it any more. */
  status(text: string): void {
    this.replace({ text, kind: "status" });
  }

  /** Says something beside the work. */
  notice(text: string): void {
    this.replace({ text, kind: "notice" });
  }

  /** Drops what is not said yet. */
  hush(): void {
    this.unsaid = "";
    this.waiting = [];
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

/** Of those that were said last, which a reader may go back to. */
const mostShown = 20;

/** Each is added to what was said: a screen reader finishes one before it begins the next. */
function show({ text, kind }: Utterance): void {
  const said = document.createElement("div");
  said.textContent = text;
  if (kind !== "text") said.lang = document.documentElement.lang; // the rest is in the model's
  ui.spoken.append(said);
  while (ui.spoken.childElementCount > mostShown) ui.spoken.firstElementChild?.remove();
}

/** The page's own. aloud.ts gives it to what comes with the first paint. */
export const speech = new Speech(show, () => isKept(silence));
