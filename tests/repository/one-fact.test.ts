// Compares facts that are written in two places.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { documentedCodes, errorCodes } from "../../docs/.vitepress/reference/errors.mjs";
import { written } from "../../engine/generate/options.mjs";
import { numberOptions } from "../../web/page/parts/options/option-list.js";
import { numberOptions as limits } from "../../web/src/shared/generate-options.js";
import { allFound, files, found, read, root } from "./files.js";

describe("numbers that are written in two languages", () => {
  it.each([
    ["engine/generate/context.h", "kLogitTokens", "web/src/worker/memory-plan.ts", "logitTokens"],
    ["engine/model/forward.h", "kMaxBatch", "web/src/worker/memory-plan.ts", "maxBatch"],
    ["weights_tools/command_line.cc", "kMostThreads", "web/src/shared/protocol.ts", "threadLimit"],
  ])("in %s, %s has the value of its twin in %s: %s", (engine, name, web, twin) => {
    expect(found(web, new RegExp(`${twin} = (\\d+);`))).toBe(found(engine, new RegExp(`${name} = (\\d+);`)));
  });
});

it("engine/generate/options.mjs has written the files that follow from options.json", () => {
  for (const [file, text] of written()) expect(readFileSync(file, "utf8"), "run it").toBe(text);
});

it.each(numberOptions)("the page accepts no value of $name that the engine refuses", (option) => {
  expect(option.min).toBeGreaterThanOrEqual(limits[option.name].least);
  expect(option.max).toBeLessThanOrEqual(limits[option.name].most);
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
