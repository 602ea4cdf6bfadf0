// The apps of examples/, as a user gets them: copied elsewhere, with the packed tarball installed.
import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer as createSocket, type AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { expect, type Page } from "@playwright/test";
import { native } from "../e2e/model.js";

export const root = resolve(import.meta.dirname, "../..");
const workshop = join(root, "build/embed");

/** The package that `npm pack` made; see global-setup.ts. */
export const tarball = join(workshop, "gpt2-wasm.tgz");

/** The environment for programs of the apps: no setting of browsers or test runners, and no telemetry. */
const { PATH, HOME, npm_config_cache } = process.env;
const telemetry = {
  NEXT_TELEMETRY_DISABLED: "1",
  NUXT_TELEMETRY_DISABLED: "1",
  ASTRO_TELEMETRY_DISABLED: "1",
};
const environment: NodeJS.ProcessEnv = { PATH, HOME, npm_config_cache, ...telemetry };

export function run(folder: string, program: string, ...args: string[]): string {
  return execFileSync(program, args, {
    cwd: folder,
    env: { ...environment, CI: "1" },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** The values of lines of JSON. */
export const jsonLines = (text: string) =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

/** A program of this checkout. */
export const bin = (name: string) => join(root, "node_modules/.bin", name);

/** npm's options for a folder that is thrown away. */
const quietly = ["--no-package-lock", "--no-audit", "--no-fund", "--prefer-offline"];

/** Installs `packages`, each NAME@VERSION, in a folder of their own, and returns that. */
export function installApart(name: string, ...packages: string[]): string {
  const folder = join(workshop, name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `{ "private": true }`);
  run(folder, "npm", "install", ...quietly, ...packages);
  return folder;
}

/** Scripts of `folder` run on Node.js 22. */
function useNode22(folder: string): void {
  const node = join(installApart("node-22", "node@22.23.2"), "node_modules/node/bin/node");
  const link = join(folder, "node_modules/.bin/node"); // npm has this folder first in the PATH of scripts
  rmSync(link, { force: true });
  symlinkSync(node, link);
}

/**
 * A copy of examples/`name` with the package installed; with its other dependencies, too, if `install`. `versions` are
 * those of dependencies that differ from the example's. `node` 22 is for tools that do not run on 20.
 */
export function makeApp(
  name: string,
  install = false,
  versions: Readonly<Record<string, string>> = {},
  node?: 22,
): string {
  const other = Object.entries(versions).slice(0, 1);
  const suffix = other.map(([dependency, version]) => `-${dependency.replace("/", "-")}-${version}`);
  const folder = join(workshop, name + suffix.join(""));
  for (const old of existsSync(folder) ? readdirSync(folder) : []) {
    if (old !== "node_modules")
      rmSync(join(folder, old), { recursive: true, maxRetries: 5, retryDelay: 200 }); // the previous server may still write
  }
  cpSync(join(root, "examples", name), folder, { recursive: true });
  const installed = join(folder, "node_modules/gpt2-wasm");
  if (install) {
    const file = join(folder, "package.json");
    const app = JSON.parse(readFileSync(file, "utf8"));
    delete app.dependencies["gpt2-wasm"]; // the registry does not have it
    for (const [dependency, version] of Object.entries(versions)) {
      const group = [app.dependencies, app.devDependencies].find((each) => each && dependency in each);
      if (!group) throw new Error(`examples/${name} has no dependency ${dependency}`);
      group[dependency] = version;
    }
    writeFileSync(file, JSON.stringify(app, null, 2));
    run(folder, "npm", "install", ...quietly);
  }
  rmSync(installed, { recursive: true, force: true });
  // Vite caches its output for the previously installed package.
  rmSync(join(folder, "node_modules/.vite"), { recursive: true, force: true });
  mkdirSync(installed, { recursive: true });
  run(installed, "tar", "-xzf", tarball, "--strip-components=1");
  if (node) useNode22(folder);
  return folder;
}

/** Copies the models into the app, for servers that serve only files in the app's own folders. */
export function addModels(folder: string): void {
  cpSync(join(root, "web/models"), join(folder, "models"), { recursive: true });
}

let expected: string | undefined;
/** The text that every app writes. */
export function expectedText(): string {
  const args = ["--prompt", "Once upon a time", "--max-new-tokens", "24", "--seed", "1", "--json"];
  expected ??= (native("generate", join(root, "web/models/demo"), ...args) as { text: string }).text;
  return expected;
}

/** Opens an app and waits until it has written what it should, with the build that it should. */
export async function expectStory(page: Page, url: string, engine: string): Promise<void> {
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(String(error)));
  await page.goto(url);
  const output = page.locator("output");
  const written = async () =>
    [await output.textContent({ timeout: 1000 }).catch(() => ""), ...troubles].join("\n");
  await expect.poll(written).toBe(expectedText());
  await expect(page.locator("small")).toContainText(engine);
}

/** Clicks the button of `<gpt2-writer>`, and waits until it has written what every app writes. */
export async function expectWriter(page: Page, url: string): Promise<void> {
  await page.goto(url);
  const writer = page.locator("gpt2-writer");
  // One evaluation, because the text may change between two. A development server may reload the page.
  const written = () =>
    writer.evaluate((element) => {
      const { value } = element as HTMLInputElement;
      const button = element.shadowRoot?.querySelector("button");
      if (value === "Once upon a time" && button?.textContent === "Write") button.click();
      return value;
    });
  await expect.poll(() => written().catch(() => "")).toBe(`Once upon a time${expectedText()}`);
}

const freePort = () =>
  new Promise<number>((found) => {
    const socket = createSocket().listen(0, "localhost", () => {
      const { port } = socket.address() as AddressInfo;
      socket.close(() => found(port));
    });
  });

export interface RunningServer {
  origin: string;
  pid: number;
  stop(): void;
}

/** A server in a separate process; `{port}` in `args` is a free port. Resolves once it answers. */
export async function startServer(
  folder: string,
  program: string,
  ...args: string[]
): Promise<RunningServer> {
  const port = await freePort();
  const filled = args.map((arg) => arg.replace("{port}", String(port)));
  const child = spawn(program, filled, {
    cwd: folder,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // npm and npx start the server in a separate process
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += String(text)));
  const stop = () => {
    try {
      if (child.pid) process.kill(-child.pid);
    } catch {
      // It has already exited.
    }
  };
  const origin = `http://localhost:${port}`;
  for (let tries = 0; tries < 900 && child.exitCode === null; tries++) {
    const answers = await fetch(origin).then(
      (response) => response.status < 500,
      () => false,
    );
    if (answers && child.pid) return { origin, pid: child.pid, stop };
    await new Promise((later) => setTimeout(later, 200));
  }
  stop();
  throw new Error(`${program} ${filled.join(" ")} does not answer: ${said}`);
}
