// A file of a model whose hash is known: read from the store if present, else downloaded and stored.
import { byteReader } from "../sources/byte-streams.js";
import type { ModelSource, OpenFile, OpenOptions } from "../sources/model-source.js";
import { sha256 } from "../sha256.js";
import type { Piece } from "../weights-index.js";
import { takeWriting } from "./locks.js";
import { bytesOf, readIfPossible, type Appender, type Store } from "./store.js";

export interface PieceOptions extends OpenOptions {
  /** Called if the piece cannot be stored, for example without room. */
  onRefusal: (error: unknown) => void;
  /** Called when the whole piece is stored. */
  onStored: () => void;
}

/** A completely stored piece. It may be damaged: its reader compares hashes. */
export async function readStored(store: Store, piece: Piece, from = 0): Promise<OpenFile | undefined> {
  const size = await store.size("blobs", piece.sha256);
  const stream = size === piece.size ? await store.read("blobs", piece.sha256, from) : undefined;
  return stream && { size: piece.size, stream, origin: "cache" };
}

/** All bytes of a piece if it is stored, readable, and has the right hash. */
export async function readRight(store: Store, piece: Piece): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const bytes = await readIfPossible(store, "blobs", piece.sha256);
  return bytes && (await sha256(bytes)) === piece.sha256 ? bytes : undefined;
}

/** Opens a piece of `source`. One tab downloads it, and others wait for that. */
export async function openPiece(
  store: Store,
  source: ModelSource,
  piece: Piece,
  options: PieceOptions,
): Promise<OpenFile> {
  const { signal, reload = false, from = 0 } = options;
  const stored = reload ? undefined : await readStored(store, piece, from);
  if (stored) return stored;
  const sizeNow = () => store.size("blobs", piece.sha256);
  const giveBack = await takeWriting(piece.sha256, signal, sizeNow);
  if (!giveBack) return source.open(piece.path, { signal, reload, from });
  try {
    const downloaded = reload ? undefined : await readStored(store, piece, from);
    if (downloaded) {
      giveBack();
      return downloaded;
    }
    return await download(store, source, piece, options, giveBack);
  } catch (error) {
    giveBack();
    throw error;
  }
}

/** The stored bytes, followed by those of the network, which are stored as they arrive. */
async function download(
  store: Store,
  source: ModelSource,
  piece: Piece,
  { signal, reload = false, from = 0, onRefusal, onStored }: PieceOptions,
  giveBack: () => void,
): Promise<OpenFile> {
  const name = piece.sha256;
  const found = reload ? 0 : ((await store.size("blobs", name)) ?? 0);
  let at = found < piece.size && found >= from ? found : from; // a longer file is useless
  const start = at > from ? await store.read("blobs", name, from) : undefined;
  const first = start && (await bytesOf(start).catch(() => undefined));
  if (first?.length !== at - from) at = from;
  const file = await source.open(piece.path, { signal, reload, from: at });
  let appender: Appender | undefined;
  try {
    // The bytes before `from` would have to be stored already.
    if (found >= at || at === 0) appender = await store.append("blobs", name, at);
  } catch (error) {
    onRefusal(error);
  }
  /** Resolves to whether the written bytes are stored. */
  const end = async () => {
    const closing = appender;
    appender = undefined;
    try {
      await closing?.close();
      return closing !== undefined;
    } catch (error) {
      onRefusal(error);
      return false;
    } finally {
      giveBack();
    }
  };
  const reader = byteReader(file.stream);
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (first && first.length === at - from && first.length > 0) controller.enqueue(first);
      },
      async pull(controller) {
        try {
          const chunk = await reader.read();
          if (!chunk) {
            const isThere = await end();
            if (isThere && at === piece.size) onStored();
            return controller.close();
          }
          at += chunk.length;
          if (appender && at <= piece.size) {
            try {
              await appender.write(chunk);
            } catch (error) {
              onRefusal(error);
              await end();
            }
          }
          controller.enqueue(chunk);
        } catch (error) {
          await end();
          controller.error(error);
        }
      },
      async cancel(reason) {
        await end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return { size: file.size, stream };
}
