// What the settings make of a distribution: the same steps as engine/generate/sampler.cc, for a picture.
import type { GenerationDefaults, TokenLogprob } from "../../../src/client/index.js";

export type Sampling = Pick<GenerationDefaults, "temperature" | "topK" | "topP" | "minP">;

/**
 * The probability with which each of `top`, the most probable first, is drawn; 0 for those that fall away. What is less
 * probable than the last of them counts for nothing.
 */
export function shape(
  top: readonly TokenLogprob[],
  { temperature, topK, topP, minP }: Sampling,
): readonly number[] {
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
  const left = kept.reduce((sum, weight) => sum + weight, 0);
  return kept.map((weight) => (left > 0 ? weight / left : 0));
}
