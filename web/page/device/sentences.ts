// What the panel says of engine and device.
import type { Environment, ModelInfo, StorageInfo, StoredModel } from "../../src/client/index.js";
import { formatBytes } from "../../src/shared/format-bytes.js";
import { formatRate } from "../format.js";
import type { Speed } from "./floor.js";

/** Where the bytes of a model came from. */
export interface Traffic {
  network: number;
  cache: number;
}

export interface ThreadFacts {
  info: Pick<ModelInfo, "threads" | "variant" | "notice">;
  environment: Pick<Environment, "threads">;
  /** undefined: the browser does not say. */
  cores: number | undefined;
  /** Whether the page's address says how many, or which build. */
  isForced: boolean;
}

/** How many threads, and why not more. */
export function threadsSentence({ info, environment, cores, isForced }: ThreadFacts): string {
  const { threads, variant, notice } = info;
  const count = cores === undefined ? `${threads}` : `${threads} of ${cores} cores`;
  if (isForced) return `${count}, as the address of this page asks.`;
  if (!environment.threads.has) return `1. ${environment.threads.reason}`;
  if (notice !== null) return `${count}. ${notice}`;
  if (!variant.startsWith("threads")) return `${count}: this build of the engine has no threads.`;
  if (cores !== undefined && threads < cores)
    return `${count}: with more it was no faster, when it was measured on this device.`;
  return `${count}: all there are.`;
}

export const memorySentence = ({ memoryBytes, weightBytes, contextBytes }: ModelInfo): string =>
  `${formatBytes(memoryBytes)}: ${formatBytes(weightBytes)} of weights, ${formatBytes(contextBytes)} for the text, and the engine.`;

export function storageSentence(
  { modelBytes, usage, quota, persisted, notice }: StorageInfo,
  models: readonly Pick<StoredModel, "id" | "bytes">[],
): string {
  if (notice !== null) return `No models are stored: ${notice}.`;
  const names = models.map(
    ({ id, bytes }) => `${id.replace(/\/$/, "").replace(/^.*\//, "")}, ${formatBytes(bytes)}`,
  );
  const stored =
    models.length === 0
      ? "No other models are stored than this page's own."
      : `${formatBytes(modelBytes)} of models are stored (${names.join("; ")}).`;
  const all =
    usage === null || quota === null
      ? ""
      : ` All of this site takes ${formatBytes(usage)} of the ${formatBytes(quota)} that the browser allows.`;
  return `${stored}${all}${persisted ? " The browser keeps it until you remove it." : ""}`;
}

/** `host` is the one that the model came from; `others` those that the page itself asked beside its own. */
export function networkSentence(
  { network, cache }: Traffic,
  host: string,
  others: readonly string[],
): string {
  const came =
    network > 0
      ? `For this model ${formatBytes(network)} came from ${host}.`
      : cache > 0
        ? "This model was stored here: nothing was fetched for it."
        : "For this model nothing was fetched.";
  const asked = others.length > 0 ? ` Other hosts that were asked: ${others.join(", ")}.` : "";
  return `None: nothing that you write leaves this device. ${came}${asked}`;
}

export const speedSentence = ({ tokensPerSecond, floorTokensPerSecond, share }: Speed): string =>
  `${formatRate(tokensPerSecond)}: ${Math.round(100 * share)} % of what this device's memory allows, ${formatRate(floorTokensPerSecond)}.`;
