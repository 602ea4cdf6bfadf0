// `gpt2-wasm generate MODEL TEXT`: writes the continuation of a text to standard output.
import { weightFormats } from "../shared/formats.js";
import { readChoice } from "../client/arguments.js";
import { loadModel } from "../node/index.js";
import { numberOptionNames, numberOptions, type NumberOptionName } from "../shared/generate-options.js";
import type { SourceRequest } from "../shared/protocol.js";
import type { GenerateOptions } from "../shared/types.js";
import type { Command, Option, Values } from "./command.js";
import { print, say, UsageError } from "./messages.js";
import { adaptersOf, modelOf, modelOptions, networkHelp, readToken, sourceHelp } from "./model-argument.js";
import { Progress } from "./progress.js";

/** "maxNewTokens" is --max-tokens, as in a completion request. */
const flagOf = (name: NumberOptionName) => numberOptions[name].openai.replaceAll("_", "-");

/** The options of a generation, from the table of all its numbers. */
const ofNumbers: [string, Option][] = numberOptionNames.map((name) => {
  const { initial, least, most, isWhole } = numberOptions[name];
  const range = `${isWhole ? "A whole number" : "A number"}, ${least} to ${most}`;
  return [flagOf(name), { value: "NUMBER", help: `${range} [${initial ?? "random"}]` }];
});

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw new UsageError(`--${name} is "${text}", expected a number`);
}

function readGenerateOptions(values: Values): GenerateOptions {
  const given = numberOptionNames.flatMap((name) => {
    const text = values.text(flagOf(name));
    return text === undefined ? [] : [[name, numberOf(flagOf(name), text)] as const];
  });
  return {
    ...Object.fromEntries(given),
    stop: values.list("stop"),
    allowSpecial: values.flag("allow-special"),
  };
}

/** `source` as loadModel takes it. With the option `hub`, a string is an id. */
function nameOf(source: SourceRequest): string | URL {
  switch (source.kind) {
    case "folder":
      return new URL(`${source.url}${source.file ?? ""}${source.query ?? ""}`);
    case "hub": {
      const { id, file, quantization, revision } = source;
      return `${id}${file === undefined ? "" : `/${file}`}${quantization === undefined ? "" : `:${quantization}`}@${revision}`;
    }
    case "files":
      throw new RangeError("no argument names files of a page");
  }
}

export const generate: Command = {
  name: "generate",
  summary: "Continue a text. The same seed gives the same continuation on every machine.",
  operands: [
    ["MODEL", `${sourceHelp}, also a converted one`],
    ["TEXT", "The text to continue"],
  ],
  options: {
    ...Object.fromEntries(ofNumbers),
    stop: { value: "TEXT", isList: true, help: "End before this text; you can repeat it" },
    "allow-special": { help: "Read special tokens in TEXT, such as <|endoftext|>" },
    threads: { value: "NUMBER", help: "Number of threads [the fastest]" },
    weights: { value: "FORMAT", help: "Format to which floats are converted: q8, q4 or f32 [q8]" },
    ...modelOptions,
  },
  more: networkHelp,
  async run([text = "", prompt = ""], values, signal) {
    const threads = values.text("threads");
    const options = readGenerateOptions(values);
    const model = await modelOf(text, values);
    const adapters = await adaptersOf(values);
    const token = readToken();
    const progress = new Progress(text);
    await using loaded = await loadModel(nameOf(model), {
      ...(model.kind === "hub" && { hub: model.hub }),
      ...(model.kind === "hub" && token !== undefined && { headers: { Authorization: `Bearer ${token}` } }),
      adapter: adapters.map(({ source, weight }) => ({ source: nameOf(source), weight })),
      threads: threads === undefined ? undefined : numberOf("threads", threads),
      weights: readChoice("--weights", values.text("weights"), weightFormats),
      signal,
      onProgress: ({ loadedBytes, totalBytes }) =>
        progress.show({ readBytes: loadedBytes, totalBytes: totalBytes || undefined }),
    }).finally(() => progress.end());
    for (const warning of loaded.info.warnings) say(warning);
    for await (const { text } of loaded.generate(prompt, { ...options, signal })) await print(text);
    await print("\n");
  },
};
