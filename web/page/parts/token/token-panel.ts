// The details of one token: its id, bytes and probability, and the alternatives at its place.
import type { TokenLogprob } from "../../../src/client/index.js";
import { plainButton } from "../../dom/buttons.js";
import { make } from "../../dom/make.js";
import type { Prediction, RankedToken } from "../../assistant/predict.js";
import type { Scored } from "../../document/scored.js";
import { visible } from "../../../src/shared/visible.js";
import { phrase } from "../../language/editor.js";
import { formatNumber } from "../../language/numbers.js";
import { percent } from "../../language/quantities.js";

/** The number of alternatives shown. */
const shownOfTop = 10;

const bytesOf = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");

const fact = (name: string, value: string): HTMLElement =>
  make("div", {}, make("dt", {}, name), make("dd", {}, value));

/** Tokens that cannot end a text: half a character, and the end-of-text token. */
const isNoText = (text: string) => text.includes("\ufffd") || text === "<|endoftext|>";

/** One alternative; `branch` puts it in the token's place. */
function alternative(token: TokenLogprob, isThere: boolean, branch: () => void): HTMLElement {
  const button = plainButton("", branch, "bare");
  button.classList.add("alternative");
  button.ariaPressed = String(isThere);
  button.disabled = isNoText(token.text);
  const probability = Math.exp(token.logprob);
  const filled = make("span");
  filled.style.width = `${probability * 100}%`;
  button.append(
    make("span", { className: "name" }, visible(token.text)),
    make("span", { className: "bar" }, filled),
    make("span", { className: "share" }, percent(probability, 1)),
  );
  return make("li", {}, button);
}

/** The token to show. */
export interface ShownToken {
  text: string;
  scored: Scored;
  /** Arrives later; never present for the first token. */
  prediction: Prediction | "asked" | undefined;
}

/** Reserves the room for a value that arrives later. */
const shareOf = (logprob: Scored["logprob"]): string => {
  if (logprob === undefined) return "…";
  return logprob === null ? phrase("noProbability") : percent(Math.exp(logprob), 1);
};

function rankOf(rank: Scored["rank"]): string {
  if (rank === undefined) return "…";
  return rank === null ? "–" : formatNumber(rank);
}

/** The entropy, as the number of equally probable tokens that has the same. */
function opennessOf(prediction: ShownToken["prediction"]): string {
  if (prediction === "asked") return "…";
  return prediction ? phrase("openness", { value: formatNumber(2 ** prediction.entropy, 1, 1) }) : "–";
}

const factsOf = ({ text, scored: { ids, rank }, prediction }: ShownToken): HTMLElement =>
  make(
    "dl",
    {},
    fact(phrase("rank"), rankOf(rank)),
    fact(phrase("choice"), opennessOf(prediction)),
    fact(phrase("ids", { count: ids.length }), ids.join(", ")),
    fact(phrase("bytes"), bytesOf(text)),
  );

/**
 * Replaces the children of `panel` by `parts`. A focused button passes its focus to the button at the same place. If
 * there is none, or the panel itself had the focus, it goes to the first button.
 */
function fill(panel: HTMLElement, ...parts: HTMLElement[]): void {
  const place = [...panel.querySelectorAll("button")].findIndex((each) => each === document.activeElement);
  const hadFocus = place !== -1 || panel === document.activeElement;
  if (hadFocus) panel.focus();
  panel.replaceChildren(...parts);
  if (!hadFocus) return;
  const next = panel.querySelectorAll("button")[place] ?? panel.querySelector("li button:enabled");
  if (next instanceof HTMLElement) next.focus();
}

/** The actions of the panel. */
export interface TokenActions {
  /** Replaces the token with an alternative. */
  branch: (token: RankedToken) => void;
  close: () => void;
}

function headOf({ text, scored }: ShownToken, close: () => void): HTMLElement {
  const name = make("strong", { className: "name" }, visible(text));
  const share = make("span", { className: "share quiet" }, shareOf(scored.logprob));
  const button = plainButton("✕", close);
  button.className = "sign";
  button.ariaLabel = phrase("close");
  return make("div", { className: "token-head" }, name, share, button);
}

/** Shows a token in `panel`, which can receive the focus: the alternatives come first. */
export function showToken(panel: HTMLElement, shown: ShownToken, { branch, close }: TokenActions): void {
  const head = headOf(shown, close);
  const facts = factsOf(shown);
  const { prediction, scored } = shown;
  if (prediction === undefined || prediction === "asked") return fill(panel, head, facts);
  const likeliest = prediction.top
    .slice(0, shownOfTop)
    .map((token, place) =>
      alternative(token, token.id === scored.ids[0], () => branch({ ...token, rank: place + 1 })),
    );
  fill(panel, head, make("ol", { ariaLabel: phrase("likeliest") }, ...likeliest), facts);
}

/** Moves the focus within the list if `key` is one of its keys; returns whether it is. */
export function moveInList(panel: HTMLElement, key: string): boolean {
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const buttons = [...panel.querySelectorAll<HTMLButtonElement>("li button:enabled")];
  const place = buttons.findIndex((button) => button === document.activeElement);
  if (step === undefined || place === -1) return false;
  buttons[(place + step + buttons.length) % buttons.length]?.focus();
  return true;
}

/** Shows the token's scores when they arrive. */
export function showScore(panel: HTMLElement, shown: ShownToken): void {
  panel.querySelector("dl")?.replaceWith(factsOf(shown));
  const share = panel.querySelector(".token-head .share");
  if (share) share.textContent = shareOf(shown.scored.logprob);
}
