// Writes a converted model: the small files, the weights in the order of their arrival, then their pieces.
import { createHash } from "node:crypto";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { headOf, headSize, lengthBytes } from "../model/convert/tensor-head.js";
import { chunksOf, type ModelSource, type ReadOfInputs } from "../model/sources/model-source.js";
import type { Piece } from "../model/weights-index.js";
import { LoadError } from "../shared/errors.js";
import { inForwardOrder } from "./forward-order.js";
import type { OutputFolder } from "./output-folder.js";
import { PieceWriter } from "./piece-writer.js";
import { readSmallFiles } from "./small-files.js";

/** Bytes that are copied at a time. */
const portion = 4 << 20;

export interface Writing {
  /** Bytes of the weights that an earlier run has left in the folder. */
  from: number;
  /** Whether the model is a GGUF file, which needs no other file. */
  isGguf: boolean;
  onProgress: (made: ReadOfInputs) => void;
  signal: AbortSignal;
}

/** Appends the converted weights to the file `path`, which has the first `from` bytes. */
async function download(
  source: ModelSource,
  path: string,
  { from, onProgress, signal }: Writing,
): Promise<void> {
  const file = await source.open("model.safetensors", { signal, from });
  const target = await open(path, "a");
  try {
    for await (const chunk of chunksOf(file, "model.safetensors", signal)) {
      await target.appendFile(chunk);
      if (file.made) onProgress(file.made);
    }
  } finally {
    await target.close();
  }
}

/** Copies the weights in the file `path` into pieces, in the order of the forward pass. */
async function writePieces(folder: string, path: string, signal: AbortSignal) {
  const input = await open(path);
  const buffer = new Uint8Array(portion);
  const read = async (start: number, end: number) => {
    const { bytesRead } = await input.read(buffer, 0, Math.min(portion, end - start), start);
    if (bytesRead === 0 && end > start) throw new LoadError("corrupt", `${path} ends after ${start} bytes`);
    return buffer.subarray(0, bytesRead);
  };
  const { size } = await input.stat();
  const head = new Uint8Array(headSize(await read(0, lengthBytes)));
  await input.read(head, 0, head.length, 0);
  const ordered = inForwardOrder(headOf(head));
  const total = size - head.length + ordered.head.length;
  const writer = new PieceWriter(folder, total);
  try {
    await writer.write(ordered.head);
    for (const { start, end } of ordered.tensors) {
      for (let at = start; at < end;) {
        signal.throwIfAborted();
        const bytes = await read(at, end);
        await writer.write(bytes);
        at += bytes.length;
      }
    }
    return { size: total, sha256: await writer.end(), pieces: writer.pieces };
  } finally {
    await input.close();
  }
}

/** Writes the model in `source`, which is converted while it is read, to `folder`, and gives that its name. */
export async function writeModel(source: ModelSource, folder: OutputFolder, writing: Writing) {
  const { isGguf, signal } = writing;
  const { partial, weights } = folder;
  const files: Piece[] = [];
  for (const { name, bytes } of await readSmallFiles(source, isGguf, signal)) {
    await writeFile(join(partial, name), bytes);
    files.push({ path: name, size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
  }
  await download(source, weights, writing);
  const { size, sha256, pieces } = await writePieces(partial, weights, signal);
  const index = { version: 2, file: "model.safetensors", size, sha256, pieces, files };
  await writeFile(join(partial, "weights.json"), `${JSON.stringify(index, null, 1)}\n`);
  await writeFile(join(partial, ".gitattributes"), "* -text\n"); // Git would change line endings, and so hashes
  folder.commit();
  return { bytes: size, pieces: pieces.length, sha256 };
}
