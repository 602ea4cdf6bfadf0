// Streams a model's weights into the engine. Several pieces download at once; the engine takes them in order.
import type { LoadProgress } from "../shared/types.js";
import { followingController, unlessAborted } from "../shared/unless-aborted.js";
import type { OpenFile } from "./sources/model-source.js";
import type { Bytes, PieceSource } from "./piece-source.js";
import { weightChunksOf } from "./sources/weight-chunks.js";
import type { Piece, WeightsIndex } from "./weights-index.js";

/** Takes the next bytes of model.safetensors; they may be overwritten after it returns. */
export type TakeBytes = (bytes: Uint8Array) => void;

export interface WeightSink {
  /** Resolves when the engine is ready. Bytes that arrive earlier wait. */
  ready: Promise<TakeBytes>;
  /** Bytes that have arrived so far, and where the last ones came from. */
  onBytes(loadedBytes: number, origin: LoadProgress["source"]): void;
}

/** Pieces that download at once: while one connection waits, others use the bandwidth. */
const mostLanes = 3;
/** While one piece is verified and used, the next one downloads and waits for the same memory. */
const bufferCount = mostLanes;

/** Streams all pieces in order into `sink`. Bytes are passed on only after their piece's hash is verified. */
export async function loadPieces(
  source: PieceSource,
  { pieces }: WeightsIndex,
  sink: WeightSink,
  signal: AbortSignal,
): Promise<void> {
  const { controller, letGo } = followingController(signal);
  const fail = (error: unknown) => controller.abort(error); // the first failure ends all downloads
  const largest = pieces.reduce((most, { size }) => Math.max(most, size), 0);
  /** Buffers that the downloads use one after another. A buffer is free once the engine has taken its contents. */
  const buffers = Array.from({ length: bufferCount }, () => ({
    bytes: undefined as Bytes | undefined,
    free: Promise.resolve(),
  }));
  const lanes: Promise<void>[] = [];
  let next = 0;
  let loaded = 0;
  let taken = sink.ready.then(() => {});

  const read = async (piece: Piece, number: number, buffer: (typeof buffers)[number]): Promise<Bytes> => {
    const makeRoom = () => (buffer.bytes ??= new Uint8Array(largest)).subarray(0, piece.size);
    const room = unlessAborted(buffer.free, controller.signal).then(makeRoom);
    room.catch(() => {}); // a piece that cannot be opened never waits for it
    let received = 0;
    await source.read(piece, room, {
      signal: controller.signal,
      onBytes(count, origin) {
        received += count;
        sink.onBytes((loaded += count), origin);
        // Lanes that start together would all end together, so the next one starts later.
        if (number === lanes.length - 1 && received * mostLanes >= piece.size) startLane();
      },
    });
    return room;
  };
  const takeAfter = async (before: Promise<void>, reading: Promise<Bytes>): Promise<void> => {
    const [bytes] = await Promise.all([reading, before]);
    controller.signal.throwIfAborted();
    (await sink.ready)(bytes);
  };
  const runLane = async (): Promise<void> => {
    for (;;) {
      const number = next++;
      const piece = pieces[number];
      const buffer = buffers[number % bufferCount];
      if (!piece || !buffer) return;
      const reading = read(piece, number, buffer);
      taken = takeAfter(taken, reading);
      buffer.free = taken;
      taken.catch(fail);
      await reading;
    }
  };
  const startLane = () => {
    if (lanes.length < mostLanes) lanes.push(runLane().catch(fail));
  };

  try {
    startLane();
    for (const lane of lanes) await unlessAborted(lane, controller.signal); // others may start in the meantime
    await unlessAborted(taken, controller.signal);
  } finally {
    letGo();
    fail(undefined);
  }
}

/** Streams a whole model.safetensors, which has no hash, into `sink`. */
export async function loadWhole(
  file: OpenFile,
  name: string,
  sink: WeightSink,
  signal: AbortSignal,
): Promise<void> {
  const take = await sink.ready.catch((error: unknown) => {
    file.stream.cancel(error).catch(() => {}); // otherwise the download would wait forever
    throw error;
  });
  let loaded = 0;
  for await (const chunk of weightChunksOf(file, name, signal)) {
    take(chunk);
    loaded += chunk.length;
    sink.onBytes(file.made?.readBytes ?? loaded, "network");
  }
}
