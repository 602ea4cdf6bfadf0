// Measures how fast the model writes on this device, compared with the limit of the device's memory.
import type { Model, ModelInfo } from "../../src/client/index.js";
import { Readers } from "./readers.js";

export interface Speed {
  tokensPerSecond: number;
  /** The rate at which the threads can read the weights and do nothing else. */
  floorTokensPerSecond: number;
  /**
   * The share of what memory allows: the median of interleaved pairs, because other work on the device disturbs both.
   */
  share: number;
}

/** Bytes of weights that are read for one token: all except the tables of which only a row is needed. */
export function bytesPerToken({
  weightBytes,
  parameters,
  config,
}: Pick<ModelInfo, "weightBytes" | "parameters" | "config">): number {
  const { nPositions, nEmbd, vocabSize, tieWordEmbeddings } = config;
  const positions = 4 * nPositions * nEmbd;
  // An embedding that is not also the head has the format of nearly all weights.
  const embedding = tieWordEmbeddings ? 0 : (vocabSize * nEmbd * weightBytes) / parameters;
  return weightBytes - positions - embedding;
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

const pairs = 5;
/** The duration of a measurement; a slow model still writes a few tokens. */
const textSeconds = 0.25;
const fewestTokens = 6;

async function decode(model: Model, maxNewTokens: number, signal: AbortSignal): Promise<number> {
  const { timings } = await model.complete([0, 1, 2, 3], {
    maxNewTokens,
    signal,
    ignoreEos: true,
    lookup: false, // with it, several tokens would share one reading of the weights
    seed: 1,
  });
  return timings.decodedTokensPerSecond;
}

/** Takes a few seconds, during which the model does nothing else. Rejects with the signal's reason when that aborts. */
export async function measureSpeed(model: Model, signal: AbortSignal): Promise<Speed> {
  const { info } = model;
  const bytes = bytesPerToken(info);
  const readers = await Readers.open(info.threads, bytes);
  try {
    const first = await decode(model, fewestTokens, signal);
    const most = Math.max(fewestTokens, Math.min(128, info.config.nPositions - 4));
    const tokens = Math.min(most, Math.max(fewestTokens, Math.round(first * textSeconds)));
    const measured: { written: number; floor: number }[] = [];
    for (let pair = 0; pair < pairs; pair += 1) {
      const written = await decode(model, tokens, signal);
      signal.throwIfAborted();
      const floor = (await readers.read()) / bytes;
      signal.throwIfAborted();
      measured.push({ written, floor });
    }
    return {
      tokensPerSecond: median(measured.map(({ written }) => written)),
      floorTokensPerSecond: median(measured.map(({ floor }) => floor)),
      share: median(measured.map(({ written, floor }) => written / floor)),
    };
  } finally {
    readers.close();
  }
}
