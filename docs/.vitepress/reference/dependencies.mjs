// The diagram of dependencies in docs/understand/architecture.md, from the build: CMake's libraries and TypeScript's projects.
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";

const root = resolve(import.meta.dirname, "../../..");
const read = (/** @type {string} */ path) => readFileSync(join(root, path), "utf8");

/** The libraries of the engine and the tools. @returns {[string, string][]} */
function libraryEdges() {
  const lists = read("engine/CMakeLists.txt");
  const declared = [
    ...lists.matchAll(/gpt2_add_library\(([\w-]+) [^)]*?(?:DEPENDS ([\w ]+))?\n?\s*SOURCES/g),
  ];
  const edges = declared.flatMap(
    ([, name, depends = ""]) => depends.match(/\w+/g)?.map((to) => [name, to]) ?? [],
  );
  const linked = [...lists.matchAll(/target_link_libraries\(gpt2_(\w+) PUBLIC gpt2_(\w+)\)/g)].map(
    ([, from, to]) => [from, to],
  );
  // A library of headers needs no link: the kernels include headers of base.
  const folder = join(root, "engine/kernels");
  const included = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), "utf8").matchAll(/#include "engine\/(\w+)\//g)].map(([, to]) => to),
  );
  const kernels = [...new Set(included)].filter((to) => to !== "kernels").map((to) => ["kernels", to]);
  const tools =
    /target_link_libraries\(gpt2_tools PUBLIC ([\w -]+)\)/.exec(read("weights_tools/CMakeLists.txt"))?.[1] ??
    "";
  // api-convert is a part of api.
  const folderOf = (name = "") => `engine/${name.replace(/^gpt2_|-.*/g, "")}`;
  return [
    ...[...edges, ...linked, ...kernels].map(
      ([from, to]) => /** @type {[string, string]} */ ([folderOf(from), folderOf(to)]),
    ),
    ...tools.split(" ").map((name) => /** @type {[string, string]} */ (["weights_tools", folderOf(name)])),
  ];
}

/** The projects of TypeScript, one for each thread or part. @returns {[string, string][]} */
function projectEdges() {
  const folders = [...readdirSync(join(root, "web/src")).map((name) => `web/src/${name}`), "web/page"];
  return folders.flatMap((folder) => {
    const { config } = ts.readConfigFile(join(root, folder, "tsconfig.json"), (path) =>
      ts.sys.readFile(path),
    );
    const references = /** @type {{ path: string }[]} */ (config.references ?? []);
    return references.map(({ path }) => /** @type {[string, string]} */ ([folder, join(folder, path)]));
  });
}

/** Whether one can get `from` one folder `to` another over `edges`, but not by the direct one. */
function followsFromOthers(
  /** @type {[string, string]} */ [from, to],
  /** @type {[string, string][]} */ edges,
) {
  const seen = new Set([from]);
  for (const at of seen)
    for (const [one, other] of edges) if (one === at && (one !== from || other !== to)) seen.add(other);
  return seen.has(to);
}

/**
 * The diagram in Mermaid. Each line is a dependency that does not follow from others; the last two are calls into WebAssembly,
 * which no build declares.
 */
export function dependencyDiagram() {
  const id = (/** @type {string} */ path) => path.replace(/\W/g, "_");
  const line = ([/** @type {string} */ from, /** @type {string} */ to]) =>
    `  ${id(from)}["${from}"] --> ${id(to)}["${to}"]`;
  const edges = [...projectEdges(), ...libraryEdges()].filter(([from, to]) => from !== to);
  const drawn = edges.filter((edge) => !followsFromOthers(edge, edges));
  const lines = [...new Set(drawn.map(line))].sort();
  const calls = ["worker", "model"].map((part) => `  web_src_${part} -. WebAssembly .-> engine_api`);
  return ["flowchart TD", ...lines, ...calls, ""].join("\n");
}
