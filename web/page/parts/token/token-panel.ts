// The details of one token: its id, bytes and probability, and the alternatives at its place.
import type { TokenLogprob } from "../../../src/client/index.js";
import { plainButton } from "../../dom/buttons.js";
import type { Prediction, RankedToken } from "../../assistant/predict.js";
import type { Scored } from "../../document/scored.js";
import { visible } from "../../../src/shared/visible.js";
import { phrase } from "../../language/editor.js";
import { formatNumber, percent } from "../../language/numbers.js";

/** The number of alternatives shown. */
const shownOfTop = 10;

const bytesOf = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");

function fact(name: string, value: string): HTMLElement {
  const row = document.createElement("div");
  const term = document.createElement("dt");
  term.textContent = name;
  const what = document.createElement("dd");
  what.textContent = value;
  row.append(term, what);
  return row;
}

/** Tokens that cannot end a text: half a character, and the end-of-text token. */
const isNoText = (text: string) => text.includes("\ufffd") || text === "<|endoftext|>";

/** One alternative; `branch` puts it in the token's place. */
function alternative(token: TokenLogprob, isThere: boolean, branch: () => void): HTMLElement {
  const item = document.createElement("li");
  const button = plainButton("", branch, "bare");
  button.classList.add("alternative");
  button.ariaPressed = String(isThere);
  button.disabled = isNoText(token.text);
  const probability = Math.exp(token.logprob);
  const bar = document.createElement("span");
  bar.className = "bar";
  const filled = document.createElement("span");
  filled.style.width = `${probability * 100}%`;
  bar.append(filled);
  const name = document.createElement("span");
  name.className = "name";
  name.textContent = visible(token.text);
  const share = document.createElement("span");
  share.className = "share";
  share.textContent = percent(probability, 1);
  button.append(name, bar, share);
  item.append(button);
  return item;
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

function entropyOf(prediction: ShownToken["prediction"]): string {
  if (prediction === "asked") return "…";
  return prediction ? phrase("bits", { value: formatNumber(prediction.entropy, 1, 1) }) : "–";
}

function factsOf({ text, scored: { ids, rank }, prediction }: ShownToken): HTMLElement {
  const facts = document.createElement("dl");
  facts.append(
    fact(phrase("rank"), rankOf(rank)),
    fact(phrase("entropy"), entropyOf(prediction)),
    fact(phrase("ids", { count: ids.length }), ids.join(", ")),
    fact(phrase("bytes"), bytesOf(text)),
  );
  return facts;
}

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
  const head = document.createElement("div");
  head.className = "token-head";
  const name = document.createElement("strong");
  name.className = "name";
  name.textContent = visible(text);
  const share = document.createElement("span");
  share.className = "share quiet";
  share.textContent = shareOf(scored.logprob);
  const button = plainButton("✕", close);
  button.className = "sign";
  button.ariaLabel = phrase("close");
  head.append(name, share, button);
  return head;
}

/** Shows a token in `panel`, which can receive the focus: the alternatives come first. */
export function showToken(panel: HTMLElement, shown: ShownToken, { branch, close }: TokenActions): void {
  const head = headOf(shown, close);
  const facts = factsOf(shown);
  const { prediction, scored } = shown;
  if (prediction === undefined || prediction === "asked") return fill(panel, head, facts);
  const list = document.createElement("ol");
  list.ariaLabel = phrase("likeliest");
  const likeliest = prediction.top.slice(0, shownOfTop);
  list.append(
    ...likeliest.map((token, place) =>
      alternative(token, token.id === scored.ids[0], () => branch({ ...token, rank: place + 1 })),
    ),
  );
  fill(panel, head, list, facts);
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
