// A picture of how the settings change the model's prediction at the caret: bars disappear as the settings exclude
// tokens.
import type { Prediction } from "../../assistant/predict.js";
import { visible } from "../../../src/shared/visible.js";
import { shape, type Sampling } from "./shape.js";
import { phrase } from "../../language/editor.js";
import { percent } from "../../language/quantities.js";

/** Number of bars; sizes in the picture's own units. */
const shownOfTop = 40;
const barWidth = 10;
const height = 100;

const svg = "http://www.w3.org/2000/svg";

function bar(place: number, share: number, className: string): SVGRectElement {
  const rect = document.createElementNS(svg, "rect");
  const tall = Math.sqrt(share) * height; // so that small bars remain visible beside large ones
  rect.setAttribute("x", String(place * barWidth + 1));
  rect.setAttribute("width", String(barWidth - 2));
  rect.setAttribute("y", String(height - tall));
  rect.setAttribute("height", String(tall));
  rect.setAttribute("class", className);
  return rect;
}

/** A description of the picture in words. */
function inWords({ top }: Prediction, shares: readonly number[]): string {
  const staying = shares.filter((share) => share > 0).length;
  const likeliest = top
    .slice(0, Math.min(3, staying))
    .map(({ text }, place) =>
      phrase("pictureToken", { token: visible(text), share: percent(shares[place] ?? 0) }),
    )
    .join(", ");
  const list = `${likeliest}${staying > 3 ? ", …" : ""}`;
  return phrase("picture", { staying, count: top.length, list });
}

/** Draws the part of `prediction` that `sampling` leaves into `picture`, and describes it in `words`. */
export function draw(
  picture: SVGSVGElement,
  words: HTMLElement,
  prediction: Prediction,
  sampling: Sampling,
): void {
  const shares = shape(prediction.top, sampling);
  const bars = prediction.top
    .slice(0, shownOfTop)
    .flatMap(({ logprob }, place) => [
      bar(place, Math.exp(logprob), "before"),
      bar(place, shares[place] ?? 0, "after"),
    ]);
  picture.setAttribute("viewBox", `0 0 ${shownOfTop * barWidth} ${height}`);
  picture.replaceChildren(...bars);
  words.textContent = inWords(prediction, shares);
}
