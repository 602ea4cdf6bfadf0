// Whether a stored model is still the one that its host has.
import type { ModelSource } from "../loader/model-source.js";
import { parseJson } from "../loader/parse-json.js";
import { parseWeightsIndex, type WeightsIndex } from "../loader/weights-index.js";
import type { ModelRecord, StoredRecord } from "./records.js";
import type { Store } from "./store.js";

/** How the host is asked whether a stored model is still the one that it has. */
export interface Revalidation {
  /** Asks once, and does not try again. */
  hasChanged: (record: ModelRecord, signal: AbortSignal) => Promise<boolean>;
  /** The host's own name for what it has now, where there is one. */
  version?: NonNullable<ModelSource["version"]>;
  /** After so long without an answer the stored model is used, and the answer counts for the next visit. */
  patienceMs: number;
}

/** For hosts whose answer may depend on the headers of a request, and for those that reported a new version too late. */
export const longPatienceMs = 10_000;

/**
 * Whether the host has another version than `record`; false where it does not say so in time. `onLate` is called where it says
 * so later.
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

/** undefined where it is no index: the loader says why. */
export function readIndex(bytes: Uint8Array): WeightsIndex | undefined {
  try {
    return parseWeightsIndex(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Whether `bytes` may be a model's weights.json, or its config.json. */
export function isModelFile(path: string, bytes: Uint8Array): boolean {
  if (path === "weights.json") return readIndex(bytes) !== undefined;
  try {
    const config = parseJson(new TextDecoder().decode(bytes), path);
    return typeof (Object(config) as { n_embd?: unknown }).n_embd === "number";
  } catch {
    return false;
  }
}
