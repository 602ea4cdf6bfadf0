// `gpt2-wasm convert SOURCE OUT`: makes the folder that `gpt2-weights convert --calibration-tokens 0` makes.
import { storedFormats } from "../shared/formats.js";
import { fileURLToPath } from "node:url";
import { isMissing, type ModelSource } from "../model/sources/model-source.js";
import { LoadError } from "../shared/errors.js";
import { formatBytes } from "../shared/format-bytes.js";
import { usualStallMs, type LoadRequest } from "../shared/protocol.js";
import { release } from "../shared/release.js";
import type { Command } from "./command.js";
import { print, say, UsageError } from "./messages.js";
import {
  adaptersOf,
  modelOf,
  modelOptions,
  networkHelp,
  prepareFetch,
  sourceHelp,
} from "./model-argument.js";
import { OutputFolder } from "./output-folder.js";
import { Progress } from "./progress.js";
import { writeModel } from "./write-model.js";

/** Identifies the conversion, if the host can tell whether its files are still the same. */
async function keyOf(source: ModelSource, weights: string, signal: AbortSignal): Promise<string | undefined> {
  const versions = [await source.version?.(signal)];
  if (source.adapterVersion) versions.push(await source.adapterVersion(signal));
  if (source.id === undefined || versions.includes(undefined)) return undefined;
  return [release, weights, source.id, ...versions].join(" ");
}

/** Throws if the model is converted already. */
async function checkIsOriginal(source: ModelSource, text: string, signal: AbortSignal): Promise<void> {
  try {
    const { stream } = await source.open("weights.json", { signal });
    await stream.cancel();
  } catch (error) {
    if (isMissing(error)) return;
    throw error;
  }
  throw new LoadError("unsupported", `${text} is already converted: convert the original model instead`);
}

export const convert: Command = {
  name: "convert",
  summary:
    "Convert a GPT-2 to a folder that any static host serves. An interrupted download from the Hub resumes.",
  operands: [
    ["SOURCE", sourceHelp],
    ["OUT", "Folder to write"],
  ],
  options: {
    weights: { value: "FORMAT", help: "Format of the weights: q8, q4, f16 or f32 [q8]" },
    ...modelOptions,
    force: { help: "Replace the model folder at OUT" },
    json: { help: "Print the result as JSON" },
  },
  more: networkHelp,
  async run([text = "", out = ""], values, signal) {
    const wanted = values.text("weights") ?? "q8";
    const weights = storedFormats.find((format) => format === wanted);
    if (!weights)
      throw new UsageError(`--weights is "${wanted}", expected one of ${storedFormats.join(", ")}`);
    prepareFetch(values);
    const model = await modelOf(text, values);
    const adapters = await adaptersOf(values);
    const inputs = [model, ...adapters.map(({ source }) => source)].flatMap((source) =>
      source.kind === "folder" && source.url.startsWith("file:")
        ? fileURLToPath(source.url).replace(/[/\\]+$/, "")
        : [],
    );
    const folder = new OutputFolder(out, values.flag("force"), inputs);
    const progress = new Progress(text);
    const request: LoadRequest = {
      source: model,
      adapters,
      weights: weights as LoadRequest["weights"], // no page wants f16, but the converter makes it
      cache: false,
      headers: [],
      // The rest is for an engine or a page.
      prompt: "",
      kv: undefined,
      threads: undefined,
      threadChoices: {},
      variant: undefined,
      stallMs: undefined,
      credentials: undefined,
      redirect: undefined,
      fetchPort: undefined,
    };
    const patience = { stallMs: usualStallMs, onRetry: (reason: string | null) => progress.retry(reason) };
    const { openSource } = await import("../model/sources/open-source.js");
    const source = await openSource(request, { patience, signal });
    await checkIsOriginal(source, text, signal);
    const from = folder.begin(await keyOf(source, weights, signal));
    try {
      const isGguf = "file" in model || "quantization" in model;
      if (from > 0) say(`resuming after ${formatBytes(from)}`);
      const made = await writeModel(source, folder, {
        from,
        isGguf,
        signal,
        onProgress: (made) => progress.show(made),
      });
      progress.end();
      const { sha256, bytes, pieces } = made;
      await print(
        values.flag("json")
          ? `${JSON.stringify({ out, ...made })}\n`
          : `${folder.out}: ${formatBytes(bytes)} in ${pieces} piece${pieces === 1 ? "" : "s"}\nsha256 ${sha256}\n`,
      );
    } catch (error) {
      progress.end();
      folder.abandon(signal.aborted || (error instanceof LoadError && error.code === "network"));
      throw error;
    }
  },
};
