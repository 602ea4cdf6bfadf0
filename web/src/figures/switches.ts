// Heads and MLPs as switches, and what the model predicts with and without them.
import type { Change, TokenLogprob } from "../client/index.js";
import { add } from "./add.js";
import { addFigure, label } from "./figure.js";
import type { Answer, Figure, FigureKind, FigureSite } from "./figure.js";
import { links } from "./parts.js";
import type { HeadPlace } from "./types.js";
import type { InsideText } from "./words.js";

/** Number of tokens to compare. */
const mostCompared = 6;

export const headOff = ({ layer, head }: HeadPlace): Change => ({
  at: `blocks.${layer}.attn.z`,
  head,
  set: 0,
});
const mlpOff = (layer: number): Change => ({ at: `blocks.${layer}.mlp_out`, set: 0 });

/** What a change switches off; undefined for other changes. */
function partOf({ at, head, set, ...more }: Change): { layer: number; head: number | undefined } | undefined {
  const [, layer, place] = /^blocks\.(\d+)\.(attn\.z|mlp_out)$/.exec(at) ?? [];
  const isWhole = Object.values(more).every((each) => each === undefined);
  if (set !== 0 || !isWhole || (place === "attn.z") !== (head !== undefined)) return undefined;
  return layer === undefined ? undefined : { layer: Number(layer), head };
}

const isSamePart = (one: Change, other: Change) =>
  one.at === other.at && one.head === other.head && partOf(one) !== undefined;

/** Whether `all` switch off the part that `change` switches off. */
export const isOff = (all: readonly Change[], change: Change): boolean =>
  all.some((each) => isSamePart(each, change));

/** `all` with `change`, or without it if its part is off. */
export const toggled = (all: readonly Change[], change: Change): readonly Change[] =>
  isOff(all, change) ? all.filter((each) => !isSamePart(each, change)) : [...all, change];

/** A token's probability before and after; undefined if it is below all that the model returned. */
export interface Compared {
  text: string;
  before: number | undefined;
  after: number | undefined;
}

/** The tokens that are most probable in either list, the most probable first. */
export function compare(before: readonly TokenLogprob[], after: readonly TokenLogprob[]): Compared[] {
  const all = new Map<number, Compared>();
  for (const { id, text, logprob } of before)
    all.set(id, { text, before: Math.exp(logprob), after: undefined });
  for (const { id, text, logprob } of after)
    all.set(id, { before: undefined, ...all.get(id), text, after: Math.exp(logprob) });
  const most = ({ before: one = 0, after: other = 0 }: Compared) => Math.max(one, other);
  return [...all.values()].sort((one, other) => most(other) - most(one)).slice(0, mostCompared);
}

const words = {
  switches: "What if a part were missing?",
  "switches.help":
    "Switch off a head of {attention} or an {mlp}: it then adds nothing to the {residual}. All pictures here show the changed model.",
  aHead: "layer {layer}, head {head}",
  anMlp: "layer {layer}’s MLP",
  switchOff: "Switch off {part}",
  switchOn: "Switch on {part}",
  undo: "Undo the change of {part}",
  allOn: "Switch all on",
  nothingOff: "Every part is switched on.",
  sameGuess: "The guess is still “{token}”: {before} before, {after} now.",
  otherGuess: "The guess was “{token}”, {before}. Now it is “{other}”, {after}.",
  nextToken: "Next token",
  shareBefore: "All parts",
  shareAfter: "Changed",
} as const;

const style = `
.controls button,
.off button {
  min-height: 2.4em;
  padding: 0 0.75em;
  border: 1px solid var(--line);
  border-radius: 0.4em;
}
.off {
  display: flex;
  flex-wrap: wrap;
  gap: 0.4em;
  margin: 0;
  padding: 0;
  list-style: none;
}
.off button {
  border-color: var(--mark);
  background: var(--pressed);
}
.compared {
  table-layout: fixed; /* large text in a narrow window breaks inside words */
}
.compared th[scope="row"] {
  font-family: var(--gpt2-token-font, inherit);
  font-weight: inherit;
}
.compared .bar {
  display: block;
  height: 0.5em;
  min-width: 1px;
  border-radius: 2px;
  background: var(--quiet);
  opacity: 0.6;
}
.compared .after .bar {
  background: var(--mark);
  opacity: 1;
}
@media (forced-colors: active) {
  .compared .bar { background: CanvasText; forced-color-adjust: none; }
}
`;

class Switches {
  private readonly text: InsideText;
  private readonly figure: Figure;
  private readonly site: FigureSite;
  private readonly head: HTMLButtonElement;
  private readonly mlp: HTMLButtonElement;
  private readonly off: HTMLUListElement;
  private place: HeadPlace = { layer: 0, head: 0 };
  private change: readonly Change[] = [];

  constructor(site: FigureSite) {
    const { text, onSwitch } = site;
    this.site = site;
    this.text = text;
    this.figure = addFigure(site, text.phrase("switches"), text.phrase("switches.help", links));
    const { element, picture, finding } = this.figure;
    finding.setAttribute("role", "status"); // a switch is pressed elsewhere
    const controls = add(element, "div", { className: "controls" });
    this.off = add(element, "ul", { className: "off" });
    picture.before(controls, this.off);
    const button = (press: () => void) => {
      const made = add(controls, "button", { type: "button" });
      made.addEventListener("click", press);
      return made;
    };
    this.head = button(() => onSwitch(toggled(this.change, headOff(this.place))));
    this.mlp = button(() => onSwitch(toggled(this.change, mlpOff(this.place.layer))));
  }

  choose(place: HeadPlace): void {
    this.place = place;
    this.nameButtons();
  }

  switched(change: readonly Change[]): void {
    this.change = change;
    this.nameButtons();
    this.listChanges();
  }

  private nameButtons(): void {
    const { place, change } = this;
    for (const [button, each] of [
      [this.head, headOff(place)],
      [this.mlp, mlpOff(place.layer)],
    ] as const)
      button.textContent = this.text.phrase(isOff(change, each) ? "switchOn" : "switchOff", {
        part: this.nameOf(each),
      });
  }

  /** Only when they change: a button in the list may have the focus. */
  private listChanges(): void {
    const { change, off } = this;
    const { phrase } = this.text;
    off.hidden = change.length === 0;
    off.replaceChildren();
    const offer = (name: string, label: string, rest: () => readonly Change[]) => {
      const button = add(add(off, "li"), "button", { type: "button", textContent: name });
      button.setAttribute("aria-label", label);
      button.addEventListener("click", () => {
        this.site.onSwitch(rest());
        this.head.focus(); // this button disappears
      });
    };
    for (const each of change) {
      const part = this.nameOf(each);
      offer(`${part} ✕`, phrase(partOf(each) ? "switchOn" : "undo", { part }), () =>
        this.change.filter((other) => other !== each),
      );
    }
    if (change.length > 1) offer(phrase("allOn"), phrase("allOn"), () => []);
  }

  /** Changes of other kinds are named by their place. */
  private nameOf(change: Change): string {
    const { phrase } = this.text;
    const part = partOf(change);
    if (!part) return change.at;
    const layer = part.layer + 1;
    return part.head === undefined
      ? phrase("anMlp", { layer })
      : phrase("aHead", { layer, head: part.head + 1 });
  }

  show({ guesses, unchanged }: Answer): void {
    const { text } = this;
    const { phrase } = text;
    const [before = [], after = []] = [unchanged.at(-1), guesses.at(-1)];
    const [was, is] = [before[0], after[0]];
    const share = (guess: TokenLogprob | undefined) => text.percent(guess ? Math.exp(guess.logprob) : 0);
    const shares = { token: label(was?.text ?? ""), before: share(was), after: share(is) };
    this.figure.finding.textContent =
      this.change.length === 0
        ? phrase("nothingOff")
        : was?.id === is?.id
          ? phrase("sameGuess", shares)
          : phrase("otherGuess", { ...shares, other: label(is?.text ?? "") });
    const least = [before, after].map((all) => Math.exp(all.at(-1)?.logprob ?? 0));
    this.write(compare(before, after), least);
  }

  /** `least` are the smallest shares that the model returned, before and after. */
  private write(rows: readonly Compared[], least: readonly number[]): void {
    const { picture } = this.figure;
    const { phrase } = this.text;
    const percent = (share: number) => this.text.percent(share);
    picture.replaceChildren();
    const table = add(picture, "table", { className: "compared" });
    add(table, "caption", { className: "unseen", textContent: phrase("nextToken") });
    const top = add(add(table, "thead"), "tr");
    for (const name of ["nextToken", "shareBefore", "shareAfter"] as const)
      add(top, "th", { scope: "col", textContent: phrase(name) });
    const body = add(table, "tbody");
    for (const { text, before, after } of rows) {
      const row = add(body, "tr");
      add(row, "th", { scope: "row", textContent: label(text) });
      for (const [index, share] of [before, after].entries()) {
        const cell = add(row, "td", { className: index === 0 ? "before" : "after" });
        const most = least[index] ?? 0;
        cell.append(share !== undefined ? percent(share) : `${most < 0.001 ? "" : "< "}${percent(most)}`);
        add(cell, "div", { className: "bar" }).style.width = `${100 * (share ?? 0)}%`;
      }
    }
  }
}

export const switches = { words, style, make: (site) => new Switches(site) } satisfies FigureKind;
