// Each folder of examples/ is tested, with the version that it names.
import { expect, it } from "vitest";
import { tools } from "../embed/tools.js";
import { files, read } from "./files.js";

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
