// WebKitGTK's MiniBrowser on a virtual display, driven by Selenium through Debian's WebKitWebDriver.
import { spawn, type ChildProcess } from "node:child_process";
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

/** Ends a process and all that it started: each is spawned as the leader of a group. */
function end(leader: ChildProcess): void {
  try {
    if (leader.pid !== undefined) process.kill(-leader.pid, "SIGKILL");
  } catch {
    // The whole group has ended already.
  }
}

async function startDisplay(): Promise<{ server: ChildProcess; display: string }> {
  const args = ["-displayfd", "3", "-screen", "0", "1024x768x24", "-nolisten", "tcp"];
  const server = spawn("Xvfb", args, { stdio: ["ignore", "ignore", "ignore", "pipe"], detached: true });
  try {
    const written = once(server.stdio[3] as Readable, "data") as Promise<[Buffer]>;
    const [number] = await within(patienceMs, "starting Xvfb", written);
    return { server, display: `:${number.toString().trim()}` };
  } catch (error) {
    end(server);
    throw error;
  }
}

async function connect(port: number): Promise<WebDriver> {
  const capabilities = new Capabilities({
    browserName: "MiniBrowser",
    "webkitgtk:browserOptions": {
      binary: miniBrowser(),
      args: ["--automation"],
    },
  });
  for (let attempt = 0; ; ++attempt) {
    try {
      const driver = new Builder()
        .usingServer(`http://127.0.0.1:${port}`)
        .withCapabilities(capabilities)
        .build();
      return await driver;
    } catch (error) {
      // The driver listens a moment after it was started.
      if (attempt === 20 || !String(error).includes("ECONNREFUSED")) throw error;
      await new Promise((later) => setTimeout(later, 100));
    }
  }
}

/** `environment` is added to the browser's own: JavaScriptCore takes its options from there. */
export async function launchWebKit(environment: Record<string, string> = {}): Promise<Browser> {
  const { server, display } = await startDisplay();
  const port = await freePort();
  const service = spawn("WebKitWebDriver", [`--port=${port}`, "--host=127.0.0.1"], {
    stdio: "ignore",
    detached: true,
    env: { ...process.env, ...environment, DISPLAY: display },
  });
  const endAll = () => {
    end(service);
    end(server);
  };
  process.once("exit", endAll); // also if the test run is killed
  try {
    const driver = await within(patienceMs, "starting WebKitGTK", connect(port));
    await driver.manage().setTimeouts({ script: 3 * patienceMs, pageLoad: patienceMs });
    const version = (await driver.getCapabilities()).get("browserVersion") as string;
    return {
      name: `WebKitGTK ${version}`,
      open: (url) => driver.get(url),
      async leaveAndReturn(url) {
        await driver.get(url);
        await driver.navigate().back();
      },
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
