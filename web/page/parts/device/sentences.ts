// The sentences of the panel "Engine and device".
import type { Environment, ModelInfo, StorageInfo, StoredModel } from "../../../src/client/index.js";
import { phrase } from "../../language/device.js";
import { formatBytes } from "../../language/numbers.js";
import type { Traffic } from "../../state/page-state.js";

export interface ThreadFacts {
  info: Pick<ModelInfo, "threads" | "variant" | "notice">;
  environment: Pick<Environment, "threads">;
  /** undefined if the browser does not report it. */
  cores: number | undefined;
  /** Whether the page's address sets the number of threads or the build. */
  isForced: boolean;
}

/** The number of threads, and why there are not more. */
export function threadsSentence({ info, environment, cores, isForced }: ThreadFacts): string {
  const { threads, variant, notice } = info;
  const counted = { threads: cores === undefined ? threads : phrase("ofCores", { threads, cores }) };
  if (isForced) return phrase("asAddressAsks", counted);
  if (!environment.threads.has) return phrase("oneThread", { why: environment.threads.reason });
  if (notice !== null) return phrase("lostThreads", { ...counted, why: notice });
  if (!variant.startsWith("threads")) return phrase("noThreads", counted);
  if (cores !== undefined && threads < cores) return phrase("notFaster", counted);
  return phrase("allThreads", counted);
}

export const memorySentence = ({ memoryBytes, weightBytes, contextBytes }: ModelInfo): string =>
  phrase("memory", {
    memory: formatBytes(memoryBytes),
    weights: formatBytes(weightBytes),
    context: formatBytes(contextBytes),
  });

export function storageSentence(
  { modelBytes, usage, quota, persisted, notice }: StorageInfo,
  models: readonly Pick<StoredModel, "id" | "bytes">[],
): string {
  if (notice !== null) return phrase("notStored", { why: notice });
  const names = models.map(({ id, bytes }) =>
    phrase("storedModel", { name: id.replace(/\/$/, "").replace(/^.*\//, ""), bytes: formatBytes(bytes) }),
  );
  const said = [
    models.length === 0
      ? phrase("noneStored")
      : phrase("stored", { bytes: formatBytes(modelBytes), list: names.join("; ") }),
  ];
  if (usage !== null && quota !== null)
    said.push(phrase("usage", { usage: formatBytes(usage), quota: formatBytes(quota) }));
  if (persisted) said.push(phrase("persisted"));
  return said.join(" ");
}

/** `host` is where the model came from; `others` are the other hosts that the page itself contacted. */
export function networkSentence(
  { network, cache }: Traffic,
  host: string,
  others: readonly string[],
): string {
  const came =
    network > 0
      ? phrase("fetched", { bytes: formatBytes(network), host })
      : phrase(cache > 0 ? "fromStore" : "notFetched");
  const said = [phrase("noNetwork"), came];
  if (others.length > 0) said.push(phrase("otherHosts", { list: others.join(", ") }));
  return said.join(" ");
}
