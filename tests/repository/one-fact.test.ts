// Compares facts that are written in two places.
import { describe, expect, it } from "vitest";
import { documentedCodes, errorCodes } from "../../docs/.vitepress/reference/errors.mjs";
import {
  initialOf as pageInitialOf,
  numberOptions as pageOptions,
} from "../../web/page/parts/options/option-list.js";
import { generateOptionNames } from "../../web/src/client/arguments.js";
import { numberOptionNames, numberOptions } from "../../web/src/shared/number-options.js";
import { allFound, files, found, read, root } from "./files.js";

describe("numbers that are written in two languages", () => {
  it.each([
    ["engine/generate/options.h", "kMostContinuations", "web/src/worker/memory-plan.ts", "mostContinuations"],
    ["engine/generate/context.h", "kLogitTokens", "web/src/worker/memory-plan.ts", "logitTokens"],
    ["engine/model/forward.h", "kMaxBatch", "web/src/worker/memory-plan.ts", "maxBatch"],
    ["weights_tools/command_line.cc", "kMostThreads", "web/src/shared/protocol.ts", "threadLimit"],
  ])("in %s, %s has the value of its twin in %s: %s", (engine, name, web, twin) => {
    expect(found(web, new RegExp(`${twin} = (\\d+);`))).toBe(found(engine, new RegExp(`${name} = (\\d+);`)));
  });

  /** The range and the type of a sampling option in the engine. */
  function rangeOf(name: string) {
    const source = read("engine/generate/options.h") + read("engine/generate/options.cc");
    const constants = source.matchAll(/constexpr (?:double|std::size_t) (k\w+) = (1 << )?(\d+);/g);
    const numbers = new Map([["kMostExact", Number.MAX_SAFE_INTEGER]]);
    for (const [, constant = "", shift, value] of constants)
      numbers.set(constant, shift ? 2 ** Number(value) : Number(value));
    const numberOf = (text = "") => numbers.get(text) ?? Number(text);
    const row = new RegExp(`GPT2_NUMBER\\("${name}",\\s+"\\w*",\\s+(\\w+),\\s+([\\w.]+),\\s+([\\w.]+),`);
    const [, isWhole, least, most] = row.exec(source) ?? [];
    return { isWhole: isWhole === "true", least: numberOf(least), most: numberOf(most) };
  }

  it.each(numberOptionNames)("%s has the same range in the engine and the module", (name) => {
    const { least, most, isWhole } = numberOptions[name];
    expect({ least, most, isWhole }).toEqual(rangeOf(name));
  });

  it.each(pageOptions.map((option) => [option.name, option] as const))(
    "the page accepts no value of %s that the engine refuses",
    (name, { min, max }) => {
      expect(min).toBeGreaterThanOrEqual(numberOptions[name].least);
      expect(max).toBeLessThanOrEqual(numberOptions[name].most);
    },
  );
});

describe("the sampling options", () => {
  const source = read("engine/generate/options.cc");
  const numbers = allFound(source, /GPT2_NUMBER\("(\w+)"/g);
  const flags = allFound(source, /^ {4}\{"(\w+)",/gm);
  const names = [...numbers, ...flags, found("engine/generate/options.h", /kStopOption = "(\w+)"/)];
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  /** The default of an option; undefined for `seed`, which the worker draws, and for `stop`, which is empty. */
  function initialOf(name: string): string | undefined {
    if (name === "seed" || name === "stop") return undefined;
    const declared = new RegExp(`\\b${snake(name)} =\\s+([\\w.]+);`);
    return found("engine/generate/options.h", declared).replace(/\.0$/, "");
  }

  it("the sampling options are the same in the engine, the module and docs/reference/api.md", () => {
    expect(names.length).toBeGreaterThan(10);
    expect([...generateOptionNames].sort()).toEqual([...names].sort());
    const table = found("docs/reference/api.md", /\| option \| default \| meaning \|(.*?)\n\n/s);
    const rows = [...table.matchAll(/^\| `(\w+)` \| (\S+) \|/gm)].map(([, name, value]) => [name, value]);
    expect(rows.map(([name]) => name).sort()).toEqual([...names].sort());
    for (const [name = "", value] of rows) expect(initialOf(name) ?? value, name).toBe(value);
  });

  it("the sampling options have the defaults that their declarations say", () => {
    const declared = found("web/src/shared/types.ts", /interface GenerateOptions \{(.*?)\n\}/s);
    for (const name of names) {
      const comment = new RegExp(`/\\*\\* ([^\\n]*) \\*/\\n  ${name}\\?:`).exec(declared)?.[1];
      expect(comment, name).toBeDefined();
      const initial = initialOf(name);
      if (initial !== undefined)
        expect(comment, name).toMatch(new RegExp(`; default ${initial.replace(".", "\\.")}[.,]`));
    }
  });

  it("generation_config.json can set each sampling option that it has a name for", () => {
    const withHubName = allFound(source, /GPT2_NUMBER\("(\w+)",\s+"\w+"/g);
    expect(numberOptionNames.filter((name) => name !== "seed")).toEqual(withHubName);
    const hubNames = allFound(source, /GPT2_NUMBER\("\w+",\s+"(\w+)"/g);
    expect(hubNames).toEqual(withHubName.map(snake));
    const documented = found("weights_tools/FORMAT.md", /\n### generation_config\.json(.*?)\n## /s);
    for (const name of hubNames) expect(documented).toContain(`\`${name}\``);
  });

  const isEngines = ({ name, initial }: { name: string; initial: number | null }) =>
    (initial === null ? undefined : String(initial)) === initialOf(name);

  it("the module has the engine's defaults of the sampling options", () => {
    const others = numberOptionNames.filter((name) => !isEngines({ name, ...numberOptions[name] }));
    expect(others).toEqual([]);
  });

  it("the page shows the defaults of the model, or else of the engine, except for the length of a text", () => {
    const usual = Number(initialOf("maxNewTokens"));
    for (const option of pageOptions) {
      const { name, initial } = option;
      expect(pageInitialOf(option, { [name]: 7 })).toBe(name === "seed" ? null : 7);
      expect(pageInitialOf(option, { maxNewTokens: usual }), name).toBe(initial);
      expect(isEngines(option), name).toBe(name !== "maxNewTokens");
    }
  });
});

it("the oldest supported browsers are those in README", () => {
  const oldest = found("web/src/shared/failures.ts", /oldBrowser = "(Chrome or Edge .*) or newer/);
  const inReadme =
    /The module runs in (Chrome and Edge from \d+, Firefox from \d+ and Safari from [\d.]+) on\./;
  const versions = (text: string) => text.match(/[\d.]+/g);
  expect(versions(found("README.md", inReadme))).toEqual(versions(oldest));
});

it("docs/reference/api.md lists each code of an error in the sources, with its class", () => {
  const made = errorCodes(root).map(({ code, name }) => ({ code, name }));
  expect(made.length).toBeGreaterThan(8);
  const documented = documentedCodes(root).map(({ code, name }) => ({ code, name }));
  expect(documented.sort((a, b) => a.code.localeCompare(b.code))).toEqual(made);
});

it("the description of a model has the fields of ModelConfig and ModelInfo", () => {
  const info = found("engine/api/load.cc", /void WriteInfo\((.*?)\n\}/s);
  const [config = "", rest = ""] = info.split('"tieWordEmbeddings"');
  const keys = (text: string) => allFound(text, /(?:Member|Key)\("(\w+)"/g);
  const declared = (name: string) => {
    const type = new RegExp(`interface ${name} \\{(.*?)\\n\\}`, "s");
    return allFound(found("web/src/shared/types.ts", type), /^ {2}(\w+):/gm);
  };
  const ofConfig = ["config", ...declared("ModelConfig")];
  expect([...keys(config), "tieWordEmbeddings"].sort()).toEqual(ofConfig.sort());
  // The worker adds the first five, and gives the kernels as simd.
  const added = ["source", "memoryBytes", "notStored", "notice", "variant", "simd", "config"];
  expect([...added, ...keys(rest)].sort()).toEqual(["kernels", ...declared("ModelInfo")].sort());
});

describe("the name of the package", () => {
  const { name } = JSON.parse(read("package.json"));

  it("every key, cache, lock and policy of the module begins with the name of the package", () => {
    for (const file of files.filter((path) => /^web\/(src|page)\/.*\.ts$/.test(path))) {
      for (const literal of allFound(read(file), /["'`](gpt2-?wasm[^"'`]*)["'`]/g)) {
        expect(literal, file).toMatch(new RegExp(`^${name}($|[ :-])`));
      }
    }
  });

  it("the documented Trusted Types policy is the name of the package", () => {
    const policy = found("web/src/shared/script-address.ts", /policyName = "([^"]+)"/);
    for (const path of ["web/src/shared/failures.ts", "docs/how-to/policies.md"]) {
      expect(found(path, /trusted-types ([\w-]+)/), path).toBe(policy);
    }
  });
});
