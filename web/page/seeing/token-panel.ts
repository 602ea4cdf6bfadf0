// What is known of one token: its id and bytes, how probable it was, and what else could have stood there.
import type { Range } from "@codemirror/state";
import type { TokenLogprob } from "../../src/client/index.js";
import { plainButton } from "../buttons.js";
import type { Prediction } from "./predict.js";
import type { Scored } from "./scored.js";
import { phrase } from "../language/editor.js";
import { formatNumber, percent } from "../language/numbers.js";

/** Of the likeliest. */
const shownOfTop = 10;

/** With what cannot be seen made visible. */
export const visible = (text: string): string => text.replaceAll(" ", "␣").replaceAll("\n", "↵");

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

/** One of the likeliest, and its place among them. */
export type RankedToken = TokenLogprob & { rank: number };

/** What a text cannot have at its end: half a character, and what ends it. */
const isNoText = (text: string) => text.includes("\ufffd") || text === "<|endoftext|>";

/** One of the likeliest, which `branch` puts in the token's place. */
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

/** Shows `token` in `panel`; the prediction comes later, and not at all for the first token. */
export function showToken(
  panel: HTMLElement,
  text: string,
  { value: scored }: Range<Scored>,
  prediction: Prediction | "asked" | undefined,
  branch: (token: RankedToken) => void,
): void {
  const facts = document.createElement("dl");
  const { ids, logprob, rank } = scored;
  facts.append(
    fact(phrase("token"), visible(text)),
    fact(phrase("ids", { count: ids.length }), ids.join(", ")),
    fact(phrase("bytes"), bytesOf(text)),
    fact(phrase("probability"), logprob === null ? phrase("noProbability") : percent(Math.exp(logprob), 1)),
    fact(phrase("rank"), rank === null ? "–" : formatNumber(rank)),
  );
  if (prediction === undefined || prediction === "asked") {
    facts.append(fact(phrase("entropy"), prediction ? "…" : "–")); // as high as with it
    panel.replaceChildren(facts);
    return;
  }
  facts.append(fact(phrase("entropy"), phrase("bits", { value: formatNumber(prediction.entropy, 1, 1) })));
  const list = document.createElement("ol");
  list.ariaLabel = phrase("likeliest");
  const likeliest = prediction.top.slice(0, shownOfTop);
  list.append(
    ...likeliest.map((token, place) =>
      alternative(token, token.id === ids[0], () => branch({ ...token, rank: place + 1 })),
    ),
  );
  panel.replaceChildren(facts, list);
}
