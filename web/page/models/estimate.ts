// Estimates what a model needs on this device, before it is downloaded.
import { bytesPerWeight, type Quantized } from "../../src/shared/formats.js";

export interface Release {
  name: string;
  /** The id on the Hub. */
  id: string;
  parameters: number;
  nEmbd: number;
}

/** The released sizes of GPT-2. */
export const releases: readonly Release[] = [
  { name: "GPT-2", id: "openai-community/gpt2", parameters: 124_439_808, nEmbd: 768 },
  { name: "GPT-2 medium", id: "openai-community/gpt2-medium", parameters: 354_823_168, nEmbd: 1024 },
  { name: "GPT-2 large", id: "openai-community/gpt2-large", parameters: 774_030_080, nEmbd: 1280 },
  { name: "GPT-2 XL", id: "openai-community/gpt2-xl", parameters: 1_557_611_200, nEmbd: 1600 },
];

const vocabulary = 50257;

/** Bytes of weights in memory. */
export function weightBytesOf(parameters: number, weights: Quantized): number {
  const { q8, q4 } = bytesPerWeight;
  if (weights === "q8") return parameters * q8;
  // The embedding stays in 8 bits. Its size is taken from the release of the closest size.
  const distance = (release: Release) => Math.abs(Math.log(release.parameters / parameters));
  const [nearest] = [...releases].sort((one, other) => distance(one) - distance(other));
  const embedding = Math.min(parameters / 2, vocabulary * (nearest?.nEmbd ?? 0));
  return embedding * q8 + (parameters - embedding) * q4;
}

/** Memory of an engine with these weights, as measured for GPT-2 124M and XL with their longest text. */
export const memoryOf = (weightBytes: number): number => weightBytes * 1.1 + 65e6;

/** Rounds an estimate to two digits. */
export const roundToTwoDigits = (value: number): number => Number(value.toPrecision(2));
