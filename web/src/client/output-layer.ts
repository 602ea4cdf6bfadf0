// Reads the weights of the output layer, with captures of passes in which values are set.
import { refuse } from "../shared/refuse.js";
import { capture, row, type Subject } from "./subject.js";

/** Positions that one pass computes. It captures all layers: 40 MB for the widest GPT-2. */
export const mostPositions = 128;

/** Refuses a model whose context is shorter than the texts with which the weights are read. */
export function checkContext({ info }: Subject): void {
  const { nPositions } = info.config;
  if (nPositions < 3) refuse(`the context holds ${nPositions} tokens, but the weights are read with 3`);
}

/** The rows of the output layer for `ids`. */
export async function outputRows(
  model: Subject,
  ids: readonly number[],
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const { nEmbd, tieWordEmbeddings } = model.info.config;
  if (tieWordEmbeddings) {
    const { captured } = await capture(model, ids, ["embed"], signal);
    return ids.map((_, index) => row(captured.embed?.data, index, nEmbd));
  }
  const rows = ids.map(() => new Float32Array(nEmbd));
  await forEachColumn(model, signal, (column, logits) => {
    for (const [index, id] of ids.entries()) (rows[index] ?? [])[column] = logits[id] ?? 0;
  });
  return rows;
}

/** Calls `take` with each column of the output layer: its logits for a unit vector, without its bias. */
export async function forEachColumn(
  model: Subject,
  signal: AbortSignal | undefined,
  take: (column: number, values: Float32Array) => void,
): Promise<void> {
  checkContext(model);
  const { nEmbd, nPositions, vocabSize } = model.info.config;
  // The first position has the bias alone. A captured row is as long as the vocabulary, so a pass has fewer of them.
  const most = Math.min(nPositions, mostPositions >> 1) - 1;
  for (let first = 0; first < nEmbd; first += most) {
    const position = [...Array(Math.min(most, nEmbd - first) + 1).keys()];
    const set = new Float32Array(position.length * nEmbd);
    for (const index of position.slice(1)) set[index * nEmbd + first + index - 1] = 1;
    const change = [{ at: "ln_final.normalized", position, set }];
    const ids = position.map(() => 0);
    const { captured } = await capture(model, ids, ["logits"], signal, { change });
    const bias = row(captured.logits?.data, 0, vocabSize);
    for (const index of position.slice(1)) {
      const values = row(captured.logits?.data, index, vocabSize);
      take(
        first + index - 1,
        values.map((value, id) => value - (bias[id] ?? 0)),
      );
    }
  }
}
