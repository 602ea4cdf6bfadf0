// The apps of examples/, as a stranger has them: copied elsewhere, with the packed tarball installed.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { createServer as createSocket, type AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { expect, type Page } from "@playwright/test";
import { native } from "../e2e/model.js";

export const root = resolve(import.meta.dirname, "../..");
const workshop = join(root, "build/embed");

/** What `npm pack` made; see global-setup.ts. */
export const tarball = join(workshop, "gpt2-wasm.tgz");

export function run(folder: string, program: string, ...args: string[]): string {
  // Browsers' and test runners' own settings are not the app's affair.
  const { PATH, HOME, npm_config_cache } = process.env;
  const env = { PATH, HOME, npm_config_cache, CI: "1", NEXT_TELEMETRY_DISABLED: "1" };
  return execFileSync(program, args, {
    cwd: folder,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/**
 * A copy of examples/`name` with the package installed; with the rest of its dependencies, too, if `install`. `versions`
 * are of dependencies that are to be others than the example has.
 */
export function makeApp(name: string, install = false, versions: Record<string, string> = {}): string {
  const other = Object.entries(versions).map(([dependency, version]) => `-${dependency}-${version}`);
  const folder = join(workshop, name + other.join(""));
  for (const old of existsSync(folder) ? readdirSync(folder) : []) {
    if (old !== "node_modules") rmSync(join(folder, old), { recursive: true });
  }
  cpSync(join(root, "examples", name), folder, { recursive: true });
  const installed = join(folder, "node_modules/gpt2-wasm");
  if (install) {
    // The package itself is not in the registry that is asked.
    run(folder, "npm", "pkg", "delete", "dependencies.gpt2-wasm");
    for (const [dependency, version] of Object.entries(versions))
      run(folder, "npm", "pkg", "set", `devDependencies.${dependency}=${version}`);
    run(folder, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund");
  }
  rmSync(installed, { recursive: true, force: true });
  // Vite keeps what it made of the package that lay there before.
  rmSync(join(folder, "node_modules/.vite"), { recursive: true, force: true });
  mkdirSync(installed, { recursive: true });
  run(installed, "tar", "-xzf", tarball, "--strip-components=1");
  return folder;
}

/** For servers that serve nothing but what is in one of the app's own folders. */
export function addModels(folder: string): void {
  cpSync(join(root, "web/models"), join(folder, "models"), { recursive: true });
}

let expected: string | undefined;
/** What every app writes. */
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
  const written = async () => {
    const text = await page
      .locator("output")
      .textContent({ timeout: 1000 })
      .catch(() => "");
    return [text, ...troubles].join("\n");
  };
  await expect.poll(written, { timeout: 45_000 }).toBe(expectedText());
  await expect(page.locator("small")).toContainText(engine);
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

/** A server of its own process; `{port}` in `args` is a free port. Resolves once it answers. */
export async function startServer(
  folder: string,
  program: string,
  ...args: string[]
): Promise<RunningServer> {
  const port = await freePort();
  const filled = args.map((arg) => arg.replace("{port}", String(port)));
  const { PATH, HOME } = process.env;
  const child = spawn(program, filled, {
    cwd: folder,
    env: { PATH, HOME, NEXT_TELEMETRY_DISABLED: "1" },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true, // npm and npx start the server in a process of its own
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += String(text)));
  const stop = () => {
    try {
      if (child.pid) process.kill(-child.pid);
    } catch {
      // It has ended by itself.
    }
  };
  const origin = `http://localhost:${port}`;
  for (let tries = 0; tries < 300 && child.exitCode === null; tries++) {
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

export const packageJson = () => JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
