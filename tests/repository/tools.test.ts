// The table of tools in docs/how-to/bundlers.md, which `npm run test:embed` writes: compared with what that tests.
import { expect, it } from "vitest";
import { tools } from "../embed/tools.js";
import { writtenTable } from "../embed/written-table.js";
import { files, read } from "./files.js";

const rows = writtenTable("docs/how-to/bundlers.md", "tools").slice(1);

it.each(tools)("docs/how-to/bundlers.md describes how each version of $name works", (tool) => {
  const own = rows.filter(([name]) => name === `[${tool.name}](../../examples/${tool.example})`);
  expect(own.flatMap(([, versions = ""]) => versions.split(", ")).sort()).toEqual(
    tool.versions.map(({ version }) => version).sort(),
  );
  for (const [, , built, development, configuration] of own) {
    expect(built).toMatch(/^works, /);
    if (tool.dev) expect(development).toMatch(/^works, /);
    expect(configuration).toBe(tool.configuration);
  }
});

it("docs/how-to/bundlers.md names no other tool", () => {
  const names = new Set(rows.map(([name]) => name));
  expect(names.size).toBe(tools.length);
});

it.each(tools)("examples/$example has the newest version of $name that is tested", (tool) => {
  const { dependencies, devDependencies } = JSON.parse(read(`examples/${tool.example}/package.json`));
  if (!tool.dependency) return expect(tool.example).toBe("hugo"); // Debian's
  expect({ ...dependencies, ...devDependencies }[tool.dependency]).toBe(tool.versions.at(-1)?.version);
});

it("each folder of examples/ is opened by a test", () => {
  const specs = files
    .filter((file) => /^tests\/embed\/.*\.ts$/.test(file))
    .map(read)
    .join("\n");
  const examples = new Set(files.flatMap((file) => /^examples\/([\w-]+)\//.exec(file)?.[1] ?? []));
  expect(examples.size).toBeGreaterThan(20);
  for (const example of examples)
    expect(specs, example).toMatch(new RegExp(`(makeApp\\(|example: )"${example}"`));
});
