// The tools that tests/embed/tools.spec.ts tries, and the table of docs/how-to/bundlers.md lists.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Delivery } from "./delivery.js";

/** How the app gets worker and engine, built and in development; "as files" unless it says otherwise. */
interface Deliveries {
  built?: Delivery;
  development?: Delivery;
}
interface Version extends Deliveries {
  version: string;
  /** Other dependencies that have to change with it. */
  dependencies?: Readonly<Record<string, string>>;
  /** Set if the tool needs a newer Node.js than 20. */
  node?: 22;
  change?: (folder: string) => void;
}

interface Given extends Deliveries {
  name: string;
  /** Folder of examples/. */
  example: string;
  /** The dependency of the example that has these `versions`, by default with the example's name; null: no package of npm. */
  dependency?: string | null;
  /** The versions from old to new. The last one is the example's own. */
  versions: readonly (string | Version)[];
  /** The folder that a static host serves; undefined if the app has its own server, `npm run start`. */
  folder?: string;
  /** Whether the app shows a text that the module writes, or `<gpt2-writer>`. */
  shows?: "story" | "writer";
  /** The configuration that the app needs beside its import, for the table. */
  configuration?: string;
  /** Changes the example: one folder has examples of several ways. */
  change?: (folder: string) => void;
  /** The script of package.json that builds the app. */
  script?: string;
  /** Options of `npm run dev`, null for tools without a server. `{port}` is a free port. */
  dev?: readonly string[] | null;
}

const own = ["--port={port}"];
const local = [...own, "--host=localhost"];
const tool = ({ built = "as files", development = "as files", ...given }: Given) => ({
  ...{ dependency: given.example, folder: undefined, shows: "story", configuration: "", script: "build" },
  ...{ dev: local, ...given },
  versions: given.versions.map((one): Version & Required<Deliveries> => ({
    ...{ built, development },
    ...(typeof one === "string" ? { version: one } : one),
  })),
});
export type Tool = ReturnType<typeof tool>;
export type TriedVersion = Tool["versions"][number];

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

/** Removes everything but the call of esbuild, which finds no worker. */
function alone(folder: string): void {
  edit(folder, "main.js", /, \{ baseUrl: [^}]*\}/, "");
  edit(folder, "package.json", / && cp [^"]*/, "");
}
function aloneInOneFile(folder: string): void {
  alone(folder);
  edit(folder, "package.json", " --splitting", "");
}

const esbuild = { example: "esbuild", versions: ["0.28.2"], folder: "public", dev: null } as const;
const rspack1 = { "@rspack/cli": "1.7.12", "@rspack/dev-server": "1.2.1" };
const sveltekit2 = {
  "@sveltejs/adapter-static": "3.0.10",
  "@sveltejs/vite-plugin-svelte": "6.2.4",
  vite: "7.3.8",
};

export const tools: readonly Tool[] = [
  {
    ...{ name: "Vite", example: "vite", folder: "dist", development: "as a chunk" },
    versions: ["5.4.21", "6.4.6", "7.3.8", { version: "8.3.8", development: "as files" }],
  },
  { name: "webpack", example: "webpack", versions: ["5.112.2"], folder: "dist" },
  {
    ...{ name: "Rspack", example: "rspack", dependency: "@rspack/core", folder: "dist" },
    versions: [{ version: "1.7.12", dependencies: rspack1 }, "2.3.2"],
  },
  {
    ...{ name: "Rsbuild", example: "rsbuild", dependency: "@rsbuild/core", folder: "dist" },
    versions: ["1.7.6", "2.3.2"],
  },
  {
    ...{ name: "Rollup", example: "rollup", versions: ["4.68.7"], folder: ".", dev: null },
    built: "as a chunk",
    configuration: "`@rollup/plugin-node-resolve`",
  },
  { ...esbuild, name: "esbuild", built: "in the app", change: aloneInOneFile },
  { ...esbuild, name: "esbuild `--splitting`", built: "as a chunk", change: alone },
  {
    ...{ ...esbuild, name: "esbuild with a copy" },
    configuration: "`--splitting`, a copy of `build/package`, `baseUrl`",
  },
  {
    ...{ name: "Parcel", example: "parcel", versions: ["2.16.4"], folder: "dist" },
    ...{ dev: [...own, "--no-cache"], built: "in the app", development: "in the app" },
  },
  {
    ...{ name: "Angular", example: "angular", dependency: "@angular/core", folder: "dist" },
    ...{ built: "as a chunk", development: "as a chunk" },
    versions: [
      { version: "20.3.35", dependencies: angular("20.3.35", "20.3.43", "20.3.41", "5.9.3") },
      { version: "22.2.6", node: 22 },
    ],
  },
  { name: "Next.js", example: "next", versions: ["15.5.29", "16.4.6"], dev: own }, // with webpack, with Turbopack
  {
    ...{ name: "Next.js, webpack", example: "next", versions: ["16.4.6"], script: "build:webpack", dev: own },
    configuration: "`next build --webpack`",
    change: (folder: string) => edit(folder, "package.json", '"next dev"', '"next dev --webpack"'),
  },
  { name: "Vue", example: "vue", versions: ["3.5.45"], folder: "dist" },
  { name: "Svelte", example: "svelte", versions: ["5.57.3"], folder: "dist" },
  {
    ...{ name: "SvelteKit", example: "sveltekit", dependency: "@sveltejs/kit", folder: "build" },
    versions: [
      { version: "2.70.4", dependencies: sveltekit2, change: asSvelteKit2, development: "as a chunk" },
      { version: "3.2.0", node: 22 },
    ],
  },
  { name: "Nuxt", example: "nuxt", versions: [{ version: "4.5.2", node: 22 }], folder: ".output/public" },
  {
    ...{ name: "Astro", example: "astro", folder: "dist", shows: "writer" },
    versions: [
      { version: "5.18.2", development: "as a chunk" },
      { version: "7.3.5", node: 22 },
    ],
  },
  {
    ...{ name: "VitePress", example: "vitepress", versions: ["1.6.4"], folder: ".vitepress/dist" },
    ...{ shows: "writer", development: "as a chunk", configuration: "`isCustomElement` of Vue" },
  },
  {
    ...{ name: "Docusaurus", example: "docusaurus", dependency: "@docusaurus/core", versions: ["3.10.2"] },
    ...{ folder: "build", shows: "writer", dev: [...local, "--no-open"] },
  },
  {
    ...{ name: "Eleventy", example: "eleventy", dependency: "@11ty/eleventy", versions: ["3.1.8"], dev: own },
    ...{ folder: "_site", shows: "writer", configuration: "`addPassthroughCopy`" },
  },
  {
    ...{ name: "Hugo", example: "hugo", dependency: null, versions: ["0.111"], dev: own }, // Debian's
    ...{ folder: "public", shows: "writer", configuration: "a mount of `build/package`" },
  },
].map((given) => tool(given as Given));
