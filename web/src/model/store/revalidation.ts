// Checks whether a stored model is still the host's current version.
import type { ModelSource } from "../sources/model-source.js";
import { parseJson } from "../parse-json.js";
import { parseWeightsIndex, type WeightsIndex } from "../weights-index.js";
import type { ModelRecord, StoredRecord } from "./records.js";
import type { Store } from "./store.js";

/** How to ask the host whether a stored model is current. */
export interface Revalidation {
  /** Makes one request, without retries. */
  hasChanged: (record: ModelRecord, signal: AbortSignal) => Promise<boolean>;
  /** The host's own name for its current version, if it has one. */
  version?: NonNullable<ModelSource["version"]>;
  /** After this time without an answer the stored model is used, and a late answer counts for the next visit. */
  patienceMs: number;
}

/** For hosts whose answer may depend on request headers, and for those that reported a new version too late. */
export const longPatienceMs = 10_000;

/**
 * Whether the host has another version than `record`; false if it does not answer in time. `onLate` is called if it
 * reports another version later.
 */
export async function isOutdated(
  store: Store,
  record: StoredRecord,
  { hasChanged, patienceMs }: Revalidation,
  signal: AbortSignal,
  onLate: () => void,
): Promise<boolean> {
  const answers = hasChanged(record, signal).catch(() => false);
  const wasLate = (await store.size("changed", record.key)) !== undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    const waitMs = wasLate ? Math.max(patienceMs, longPatienceMs) : patienceMs;
    timer = setTimeout(() => resolve(undefined), waitMs);
  });
  const answer = await Promise.race([answers, late]);
  clearTimeout(timer);
  if (answer === undefined) void answers.then((isChanged) => isChanged && onLate());
  return answer ?? false;
}

/** undefined if `bytes` are no index: the loader reports why. */
export function readIndex(bytes: Uint8Array): WeightsIndex | undefined {
  try {
    return parseWeightsIndex(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Whether `bytes` may be a model's weights.json or config.json. */
export function isModelFile(path: string, bytes: Uint8Array): boolean {
  if (path === "weights.json") return readIndex(bytes) !== undefined;
  try {
    const config = parseJson(new TextDecoder().decode(bytes), path);
    const { n_embd: width, model_type: type } = Object(config) as Record<"n_embd" | "model_type", unknown>;
    return typeof width === "number" || typeof type === "string";
  } catch {
    return false;
  }
}
