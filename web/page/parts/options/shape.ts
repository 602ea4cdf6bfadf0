// How the settings change a distribution: the same steps as engine/generate/sampler.cc, for the picture.
import type { TokenLogprob } from "../../../src/client/index.js";
import type { FilterName } from "../../../src/shared/generate-options.js";

/** The options that depend on the distribution alone. Penalties for repetition depend on the text. */
export type Sampling = Readonly<Record<FilterName, number>>;

/**
 * Locally typical sampling: keeps the tokens whose surprise is closest to the expected one, up to `mass` of the
 * weight.
 */
function keepTypical(weights: readonly number[], mass: number): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const surprises = weights.map((weight) => -Math.log(weight / total));
  const expected = weights.reduce(
    (sum, weight, place) => (weight > 0 ? sum + (weight / total) * (surprises[place] ?? 0) : sum),
    0,
  );
  const distances = surprises.map((surprise) => Math.abs(surprise - expected));
  const closest = weights
    .flatMap((weight, place) => (weight > 0 ? [place] : []))
    .sort((one, other) => (distances[one] ?? 0) - (distances[other] ?? 0));
  let kept = 0;
  let farthest = -1;
  for (const place of closest) {
    if (kept > 0 && kept >= mass * total) break;
    kept += weights[place] ?? 0;
    farthest = distances[place] ?? 0;
  }
  return weights.map((weight, place) => ((distances[place] ?? Infinity) <= farthest ? weight : 0));
}

/**
 * The probability of drawing each token of `top`, which is sorted from the most probable; 0 for excluded tokens.
 * Tokens beyond `top` are ignored.
 */
export function shape(
  top: readonly TokenLogprob[],
  { temperature, topK, topP, minP, typicalP, ...others }: Sampling,
): readonly number[] {
  others satisfies Record<string, never>; // does not compile if an option of `Sampling` has no step here
  const best = top[0]?.logprob ?? 0;
  const weightOf = ({ logprob }: TokenLogprob, place: number) => {
    if (topK > 0 && place >= topK) return 0;
    if (temperature === 0) return place === 0 ? 1 : 0;
    return Math.exp((logprob - best) / temperature);
  };
  const weights = top.map(weightOf);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let before = 0;
  const kept = weights.map((weight) => {
    const isKept = (before === 0 || before < topP * total) && weight >= minP;
    before += weight;
    return isKept ? weight : 0;
  });
  const drawn = typicalP < 1 ? keepTypical(kept, typicalP) : kept;
  const left = drawn.reduce((sum, weight) => sum + weight, 0);
  return drawn.map((weight) => (left > 0 ? weight / left : 0));
}
