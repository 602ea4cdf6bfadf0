// The tools that tests/embed/tools.spec.ts tries. The tests write the table of docs/how-to/bundlers.md from these and from
// what they find.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Tool {
  name: string;
  /** Folder of examples/. */
  example: string;
  /** The dependency of the example that has these `versions`; undefined if the tool is no package of npm. */
  dependency?: string;
  /** The versions from old to new. The last one is the example's own. */
  versions: readonly Version[];
  /** Whether the app shows a text that the module writes, or `<gpt2-writer>`. */
  shows: "story" | "writer";
  /** The configuration that the app needs beside its import, for the table. */
  configuration?: string;
  /** Changes the example: one folder has examples of several ways. */
  change?: (folder: string) => void;
  build: Build;
  /** Options of `npm run dev`; undefined for tools without a server. `{port}` is a free port. */
  dev?: readonly string[];
}

export interface Version {
  version: string;
  /** Other dependencies that have to change with it. */
  dependencies?: Readonly<Record<string, string>>;
  /** Set if the tool needs a newer Node.js than 20. */
  node?: 22;
  change?: (folder: string) => void;
}

interface Build {
  /** The script of package.json that builds the app. */
  script: string;
  /** The folder that a static host serves; undefined if the app has its own server, `npm run start`. */
  folder?: string;
}

const local = ["--port={port}", "--host=localhost"];
const files = (folder: string): Build => ({ script: "build", folder });
const write = (folder: string, name: string, text: string) => writeFileSync(join(folder, name), text);
function edit(folder: string, name: string, before: string | RegExp, after: string): void {
  const text = readFileSync(join(folder, name), "utf8");
  const changed = text.replace(before, after);
  if (changed === text) throw new Error(`${name} of ${folder} has no ${String(before)}`);
  write(folder, name, changed);
}

/** SvelteKit 2 reads its options from a file. */
function asSvelteKit2(folder: string): void {
  const adapter = 'import adapter from "@sveltejs/adapter-static";\n';
  write(folder, "svelte.config.js", `${adapter}export default { kit: { adapter: adapter() } };\n`);
  edit(folder, "vite.config.js", adapter, "");
  edit(folder, "vite.config.js", "{ adapter: adapter() }", "");
}

/** Angular's packages have one version, except for the command and the builder. */
const angular = (core: string, cli: string, builder: string, typescript: string) => ({
  ...Object.fromEntries(
    ["common", "compiler", "core", "platform-browser", "compiler-cli"].map((name) => [
      `@angular/${name}`,
      core,
    ]),
  ),
  "@angular/cli": cli,
  "@angular/build": builder,
  typescript,
});

const esbuild = { example: "esbuild", dependency: "esbuild", versions: [{ version: "0.28.2" }] } as const;
/** Removes everything but the call of esbuild, which finds no worker. */
function alone(folder: string): void {
  edit(folder, "main.js", /, \{ baseUrl: [^}]*\}/, "");
  edit(folder, "package.json", / && cp [^"]*/, "");
}
function aloneInOneFile(folder: string): void {
  alone(folder);
  edit(folder, "package.json", " --splitting", "");
}

const next = {
  example: "next",
  dependency: "next",
  shows: "story",
  dev: ["--port={port}"],
} as const;

export const tools: readonly Tool[] = [
  {
    ...{ name: "Vite", example: "vite", dependency: "vite", shows: "story" },
    versions: ["5.4.21", "6.4.6", "7.3.8", "8.3.8"].map((version) => ({ version })),
    build: files("dist"),
    dev: local,
  },
  {
    ...{ name: "webpack", example: "webpack", dependency: "webpack", shows: "story" },
    versions: [{ version: "5.112.2" }],
    build: files("dist"),
    dev: local,
  },
  {
    ...{ name: "Rspack", example: "rspack", dependency: "@rspack/core", shows: "story" },
    versions: [
      { version: "1.7.12", dependencies: { "@rspack/cli": "1.7.12", "@rspack/dev-server": "1.2.1" } },
      { version: "2.3.2" },
    ],
    build: files("dist"),
    dev: local,
  },
  {
    ...{ name: "Rsbuild", example: "rsbuild", dependency: "@rsbuild/core", shows: "story" },
    versions: [{ version: "1.7.6" }, { version: "2.3.2" }],
    build: files("dist"),
    dev: local,
  },
  {
    ...{ name: "Rollup", example: "rollup", dependency: "rollup", shows: "story" },
    versions: [{ version: "4.68.7" }],
    configuration: "`@rollup/plugin-node-resolve`",
    build: files("."),
  },
  { ...esbuild, name: "esbuild", shows: "story", change: aloneInOneFile, build: files("public") },
  {
    ...{ ...esbuild, name: "esbuild `--splitting`", shows: "story" },
    change: alone,
    build: files("public"),
  },
  {
    ...{ ...esbuild, name: "esbuild with a copy", shows: "story" },
    configuration: "`--splitting`, a copy of `build/package`, `baseUrl`",
    build: files("public"),
  },
  {
    ...{ name: "Parcel", example: "parcel", dependency: "parcel", shows: "story" },
    versions: [{ version: "2.16.4" }],
    build: files("dist"),
    dev: ["--port={port}", "--no-cache"],
  },
  {
    ...{ name: "Angular", example: "angular", dependency: "@angular/core", shows: "story" },
    versions: [
      { version: "20.3.35", dependencies: angular("20.3.35", "20.3.43", "20.3.41", "5.9.3") },
      { version: "22.2.6", node: 22 },
    ],
    build: files("dist"),
    dev: local,
  },
  {
    ...{ ...next, name: "Next.js" },
    versions: [{ version: "15.5.29" }, { version: "16.4.6" }], // with webpack, with Turbopack
    build: { script: "build" },
  },
  {
    ...{ ...next, name: "Next.js, webpack" },
    versions: [{ version: "16.4.6" }],
    configuration: "`next build --webpack`",
    change: (folder) => edit(folder, "package.json", '"next dev"', '"next dev --webpack"'),
    build: { script: "build:webpack" },
  },
  {
    ...{ name: "Vue", example: "vue", dependency: "vue", shows: "story" },
    versions: [{ version: "3.5.45" }],
    build: files("dist"),
    dev: local,
  },
  {
    ...{ name: "Svelte", example: "svelte", dependency: "svelte", shows: "story" },
    versions: [{ version: "5.57.3" }],
    build: files("dist"),
    dev: local,
  },
  {
    ...{ name: "SvelteKit", example: "sveltekit", dependency: "@sveltejs/kit", shows: "story" },
    versions: [
      {
        version: "2.70.4",
        dependencies: {
          "@sveltejs/adapter-static": "3.0.10",
          "@sveltejs/vite-plugin-svelte": "6.2.4",
          vite: "7.3.8",
        },
        change: asSvelteKit2,
      },
      { version: "3.2.0", node: 22 },
    ],
    build: files("build"),
    dev: local,
  },
  {
    ...{ name: "Nuxt", example: "nuxt", dependency: "nuxt", shows: "story" },
    versions: [{ version: "4.5.2", node: 22 }],
    build: files(".output/public"),
    dev: local,
  },
  {
    ...{ name: "Astro", example: "astro", dependency: "astro", shows: "writer" },
    versions: [{ version: "5.18.2" }, { version: "7.3.5", node: 22 }],
    build: files("dist"),
    dev: local,
  },
  {
    ...{ name: "VitePress", example: "vitepress", dependency: "vitepress", shows: "writer" },
    versions: [{ version: "1.6.4" }],
    configuration: "`isCustomElement` of Vue",
    build: files(".vitepress/dist"),
    dev: local,
  },
  {
    ...{ name: "Docusaurus", example: "docusaurus", dependency: "@docusaurus/core", shows: "writer" },
    versions: [{ version: "3.10.2" }],
    build: files("build"),
    dev: [...local, "--no-open"],
  },
  {
    ...{ name: "Eleventy", example: "eleventy", dependency: "@11ty/eleventy", shows: "writer" },
    versions: [{ version: "3.1.8" }],
    configuration: "`addPassthroughCopy`",
    build: files("_site"),
    dev: ["--port={port}"],
  },
  {
    ...{ name: "Hugo", example: "hugo", shows: "writer" },
    versions: [{ version: "0.111" }], // Debian's
    configuration: "a mount of `build/package`",
    build: files("public"),
    dev: ["--port={port}"],
  },
];
