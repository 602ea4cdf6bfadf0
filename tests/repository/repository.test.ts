// Checks that whatever documents, builds and fuzz targets name exists, and that the code follows its rules.
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { slugOf } from "../../docs/.vitepress/markdown.mjs";
import { dependencyDiagram } from "../../docs/.vitepress/reference/dependencies.mjs";
import { allFound, files, read, root } from "./files.js";
import { cyclicOf, importsOf } from "./imports.js";
import { backwardImports, layerOf, unitOf } from "./page-layers.js";

describe("the documents", () => {
  const documents = files.filter((file) => file.endsWith(".md") && !file.startsWith("tests/data"));

  const anchorsOf = (file: string) =>
    allFound(read(file).replace(/^```.*?^```/gms, ""), /^#+ (.+)$/gm).map(slugOf);

  it.each(documents)("%s names only files, headings and scripts that exist", (document) => {
    const text = read(document);
    for (const link of allFound(text, /(?:\]\((?!https?:)|^<<< )([^)\s{]+)/gm)) {
      const [path = "", anchor] = link.split("#");
      const file = path ? join(document, "..", path) : document;
      expect(existsSync(join(root, file)), link).toBe(true);
      if (anchor && file.endsWith(".md")) expect(anchorsOf(file), link).toContain(anchor);
    }
    // Paths in backticks, without those that a build makes and those with a part to fill in.
    const inBackticks = /`((?:docs|engine|examples|tests|weights_tools|web|\.github|\.ci)\/[\w./-]*)`/g;
    for (const path of allFound(text, inBackticks))
      if (!/^web\/dist|\/[A-Z]+$/.test(path)) expect(existsSync(join(root, path)), path).toBe(true);
    // The ends of paths, as `document/editor.ts`. The notes also name other projects' files.
    const isNamed = (end: string) => files.some((file) => `/${file}`.endsWith(`/${end}`));
    const ends = allFound(text, /`([\w-]+\/[\w./-]+\.(?:ts|mjs|cc|h))`/g);
    if (!document.startsWith("docs/notes/")) expect(ends.filter((end) => !isNamed(end))).toEqual([]);
    const { scripts } = JSON.parse(read("package.json"));
    for (const script of allFound(text, /npm run (?:-s )?([\w:-]+)/g)) expect(scripts).toHaveProperty(script);
  });

  it("docs/index.md, the source of the site's sidebar, lists every document", () => {
    const listed = allFound(read("docs/index.md"), /^- \[.*?\]\(([^):]+\.md)\)/gm);
    const written = files.filter((file) => /^docs\/.+\/.+\.md$/.test(file)).map((file) => file.slice(5));
    expect(listed.filter((path) => !path.startsWith("../")).sort()).toEqual(written.sort());
  });

  it("the diagram in architecture.md shows the dependencies that the build declares", () => {
    const drawn = /```mermaid\n(.*?)```/s.exec(read("docs/understand/architecture.md"))?.[1];
    expect(drawn).toBe(dependencyDiagram());
  });

  it("the map in architecture.md lists the folders that exist", () => {
    const mapped = allFound(read("docs/understand/architecture.md"), /^\| `([\w/-]+)\/` \|/gm);
    const folders = ["engine", "web", "web/src"].flatMap((parent) =>
      readdirSync(join(root, parent))
        .filter((name) => statSync(join(root, parent, name)).isDirectory())
        .map((name) => `${parent}/${name}`),
    );
    const inParts = new Set(["web/src", "web/dist"]); // the first is listed folder by folder, the second is built
    expect(mapped).toEqual(
      expect.arrayContaining([...folders.filter((name) => !inParts.has(name)), "weights_tools", "tests"]),
    );
    expect(mapped.filter((folder) => !existsSync(join(root, folder)))).toEqual([]);
  });
});

it("the build compiles every source file", () => {
  // CMake itself finds the tests of the engine.
  const lists = files.filter((file) => /CMakeLists\.txt$|\.cmake$/.test(file)).map(read);
  // Whole names: options_json.cc does not count as json.cc, and one generate.cc does not count for two.
  const listed = lists.join("\n").match(/[\w.-]+\.cc\b/g) ?? [];
  const isListed = (file: string) =>
    file.endsWith(".cc") && !/^tests\/(?!weights_tools).*_test\.cc$/.test(file);
  const sources = files.filter(isListed).map((file) => basename(file));
  const count = (all: string[], name: string) => all.filter((each) => each === name).length;
  expect(sources.filter((name) => count(listed, name) < count(sources, name))).toEqual([]);
});

it("each fuzz target has a corpus, and all corpora together are small", () => {
  const targets = files.flatMap((file) => /^tests\/fuzz\/(\w+)_fuzz\.cc$/.exec(file)?.[1] ?? []);
  const corpus = files.filter((file) => file.startsWith("tests/fuzz/corpus/"));
  expect([...new Set(corpus.map((file) => file.split("/")[3]))].sort()).toEqual(targets.sort());
  expect(corpus.reduce((bytes, file) => bytes + statSync(join(root, file)).size, 0)).toBeLessThan(200_000);
});

describe("the engine", () => {
  const sources = files.filter((file) => /^engine\/.*\.(h|cc)$/.test(file));

  it.each(sources)("%s neither prints nor exits, and includes only what its folder may", (file) => {
    const text = read(file);
    expect(text).not.toMatch(/\b(exit|abort|printf|puts)\(|std::cout|std::cerr/);
    const folder = file.split("/")[1] ?? "";
    const allowed: Record<string, string[]> = {
      base: [],
      kernels: ["base"],
      model: ["base", "kernels"],
      text: ["base"],
      generate: ["base", "kernels", "model", "text"],
      format: ["base", "kernels", "model", "text"],
      languages: ["base", "text", "format"],
      convert: ["base", "kernels", "model", "text", "format"],
      api: ["base", "kernels", "model", "text", "generate", "format", "languages", "convert"],
    };
    for (const [, included] of text.matchAll(/#include "engine\/(\w+)\//g)) {
      if (included !== folder) expect(allowed[folder], file).toContain(included);
    }
    if (folder !== "format") expect(text).not.toContain("nlohmann/");
  });
});

describe("the module and the page", () => {
  const sources = files.filter(
    (file) => /^web\/(src|page)\/.*\.(ts|mjs)$/.test(file) && !file.endsWith(".d.ts"),
  );
  const ofPage = sources.filter((file) => file.startsWith("web/page/"));

  it("the modules have no import cycle at run time", () => {
    const next = (file: string) =>
      importsOf(file)
        .filter(({ isType, isLater }) => !isType && !isLater)
        .map(({ to }) => to);
    expect(sources.length).toBeGreaterThan(60);
    expect(next("web/src/client/load-model.ts")).toContain("web/src/client/model.ts");
    expect(cyclicOf(sources, next)).toEqual([]);
  });

  it("the figures import only what the package exports, and nothing of the page", () => {
    const ofFigures = sources.filter((file) => file.startsWith("web/src/figures/"));
    expect(ofFigures.length).toBeGreaterThan(8);
    const imported = ofFigures.flatMap(importsOf).filter(({ to }) => !to.startsWith("web/src/figures/"));
    expect(imported.length).toBeGreaterThan(0);
    // Arguments, texts, numbers, refusals and aborts: nothing that reaches a worker.
    const shared = "arguments numbers phrases refuse unless-aborted visible".split(" ");
    const other = imported.filter(
      ({ to, isType }) =>
        !shared.some((name) => to === `web/src/shared/${name}.ts`) &&
        !(isType && to === "web/src/client/index.ts"),
    );
    expect(other).toEqual([]);
  });

  it("the page uses the figures as any site does, by their entry point", () => {
    const used = ofPage.flatMap(importsOf).filter(({ to }) => to.startsWith("web/src/figures/"));
    expect([...new Set(used.map(({ to }) => to))]).toEqual(["web/src/figures/index.ts"]);
  });

  it("the page has no module-level variable that could hide state", () => {
    const variables = ofPage.filter((file) => /^(?:export )?(?:let|var)\b/m.test(read(file)));
    expect(variables).toEqual([]);
  });

  it("the page's imports, types included, point to lower layers and never form a cycle", () => {
    const cyclic = cyclicOf(ofPage, (file) => importsOf(file).map(({ to }) => to));
    const units = new Set(ofPage.map(unitOf));
    expect([...units].filter((unit) => layerOf(unit) === 0)).toEqual([]);
    expect(backwardImports(ofPage)).toEqual([]);
    expect(cyclic).toEqual([]);
  });
});
