// WebKitGTK's MiniBrowser on a virtual display, driven by Selenium through Debian's WebKitWebDriver.
import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { Builder, Capabilities, Key, type WebDriver } from "selenium-webdriver";
import { within, type Browser } from "./browser.js";

const patienceMs = 60_000;

function miniBrowser(): string {
  const libraries = `/usr/lib/${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu`;
  const folder = readdirSync(libraries).find((name) => name.startsWith("webkit2gtk-"));
  if (!folder) throw new Error(`no webkit2gtk-* in ${libraries}: install webkit2gtk-driver`);
  return `${libraries}/${folder}/MiniBrowser`;
}

/** A key for WebDriver: a character; keys that write none are private characters of Unicode. */
const codeOf = (key: string): string => {
  const name = key.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase(); // "ArrowRight" is ARROW_RIGHT
  return (Key as unknown as Record<string, string>)[name] ?? key;
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A driver of the browser, once the service at `port` listens. */
async function connect(port: number): Promise<WebDriver> {
  const capabilities = new Capabilities({
    browserName: "MiniBrowser",
    "webkitgtk:browserOptions": { binary: miniBrowser(), args: ["--automation"] },
  });
  const builder = new Builder().usingServer(`http://127.0.0.1:${port}`).withCapabilities(capabilities);
  for (let attempt = 0; ; ++attempt) {
    try {
      return await builder.build();
    } catch (error) {
      if (attempt === 20 || !String(error).includes("ECONNREFUSED")) throw error;
      await new Promise((later) => setTimeout(later, 100));
    }
  }
}

/** `environment` is added to the browser's own: JavaScriptCore takes its options from there. */
export async function launchWebKit(environment: Record<string, string> = {}): Promise<Browser> {
  const leaders: ChildProcess[] = []; // each of its own group, with all that it started
  const start = (command: string, args: string[], options: SpawnOptions) => {
    const leader = spawn(command, args, { ...options, detached: true });
    leaders.push(leader);
    return leader;
  };
  const endAll = () => {
    for (const { pid } of leaders.splice(0)) {
      try {
        if (pid !== undefined) process.kill(-pid, "SIGKILL");
      } catch {
        // The whole group has ended already.
      }
    }
  };
  process.once("exit", endAll); // also if the test run is killed
  try {
    const screen = ["-displayfd", "3", "-screen", "0", "1024x768x24", "-nolisten", "tcp"];
    const server = start("Xvfb", screen, { stdio: ["ignore", "ignore", "ignore", "pipe"] });
    const written = once(server.stdio[3] as Readable, "data") as Promise<[Buffer]>;
    const [display] = await within(patienceMs, "starting Xvfb", written);
    const port = await freePort();
    const env = { ...process.env, ...environment, DISPLAY: `:${display.toString().trim()}` };
    start("WebKitWebDriver", [`--port=${port}`, "--host=127.0.0.1"], { stdio: "ignore", env });
    const driver = await within(patienceMs, "starting WebKitGTK", connect(port));
    await driver.manage().setTimeouts({ script: 3 * patienceMs, pageLoad: patienceMs });
    const version = (await driver.getCapabilities()).get("browserVersion") as string;
    return {
      name: `WebKitGTK ${version}`,
      open: (url) => driver.get(url),
      async evaluate(expression) {
        const answer = await driver.executeAsyncScript<{ value?: string; error?: string }>(
          `const done = arguments[arguments.length - 1];
           (${expression}).then((value) => done({ value }), (error) => done({ error: String(error) }));`,
        );
        if (answer.value === undefined) throw new Error(answer.error);
        return answer.value;
      },
      async press(...keys) {
        const actions = driver.actions();
        for (const pressed of keys) {
          const [key = "", ...held] = pressed.split("+").reverse().map(codeOf);
          for (const each of held) actions.keyDown(each);
          actions.keyDown(key).keyUp(key);
          for (const each of held) actions.keyUp(each);
        }
        await actions.perform();
      },
      async close() {
        try {
          await within(patienceMs, "closing WebKitGTK", driver.quit());
        } finally {
          endAll();
        }
      },
    };
  } catch (error) {
    endAll();
    throw error;
  }
}
