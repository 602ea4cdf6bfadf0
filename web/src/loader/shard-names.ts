// Reads the list of the files that a published model's weights are in.
import { LoadError } from "../shared/errors.js";
import { problemOfFileName } from "../shared/file-names.mjs";
import { describeValue } from "../shared/refuse.js";
import { checkMost, mostShards, mostTensors } from "./limits.js";
import { parseJson } from "./parse-json.js";

/** The file names in `text`, an index of shards. */
export function shardNames(indexFile: string, text: string): string[] {
  const { weight_map: map } = Object(parseJson(text, indexFile)) as { weight_map?: unknown };
  const names: unknown[] = typeof map === "object" && map !== null ? Object.values(map) : [];
  checkMost(`${indexFile}, "weight_map"`, names.length, mostTensors, "tensors");
  const problemOf = (name: unknown) => {
    if (typeof name !== "string") return "it is not text";
    return name.includes("/") ? 'it contains "/"' : problemOfFileName(name);
  };
  const wrong = names.find((name) => problemOf(name) !== undefined);
  if (names.length === 0 || wrong !== undefined) {
    const found = wrong === undefined ? "" : `, found ${describeValue(wrong)}: ${problemOf(wrong)}`;
    throw new LoadError(
      "corrupt",
      `${indexFile}: expected "weight_map" with the name of a file for each tensor${found}`,
    );
  }
  const shards = [...new Set(names as string[])].sort();
  checkMost(`${indexFile}, "weight_map"`, shards.length, mostShards, "files");
  return shards;
}
