// A model from nginx, the most common server, as administrators configure it. Files that are compressed, limited,
// redirected or sent with another type load as they do from a plain host.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test, type Page } from "@playwright/test";
import type { RunningServer } from "../embed/app.js";
import { startNginx } from "../embed/servers.js";
import { demo, inPage, native, prompt, root } from "./model.js";

test.describe.configure({ timeout: 120_000 });

const dist = resolve(root, "web/dist");
const scratch = mkdtempSync(join(tmpdir(), "gpt2-nginx-"));
const logFile = join(scratch, "access.log");

/** The built folder below `/name/`, with its own `settings`. */
const below = (name: string, settings: string, folder = dist) =>
  `location ^~ /${name}/ { alias ${folder}/; ${settings} }`;

const isolated = `add_header Cross-Origin-Opener-Policy same-origin; add_header Cross-Origin-Embedder-Policy require-corp;`;
/** Bytes per second of each connection: the demo takes seconds. */
const limit = "limit_rate 3m;";

function settings(elsewhere: string): string {
  const busy = (status: number) =>
    `limit_req zone=busy${status} burst=1 nodelay; limit_req_status ${status}; add_header Retry-After 1 always;`;
  const moved = [301, 302, 307].map((code) => `location ~ ^/moved-${code}/(.*)$ { return ${code} /$1; }`);
  const blank = (path: string, headers: string) =>
    `location = ${path} { default_type text/html; ${headers} return 200 "<!doctype html><title>-</title>"; }`;
  return `
    access_log ${logFile} asked;
    ${blank("/blank", "")} ${blank("/isolated/blank", isolated)}
    ${below("isolated", isolated)}
    ${below("whole", "max_ranges 0;")}
    ${below("packed", "gzip_types *; gzip_comp_level 1;")}
    ${below("packed-before", "gzip_static always; gunzip on;", scratch)}
    ${below("slow", limit)}
    ${below("slow-whole", `${limit} max_ranges 0;`)}
    ${below("slow-packed", `${limit} gzip_types *; gzip_comp_level 1;`)}
    ${below("busy-503", busy(503))} ${below("busy-429", busy(429))}
    ${below("as-text", 'types { } default_type "text/plain";')}
    ${below("as-bytes", 'types { } default_type "application/octet-stream";')}
    ${below("as-nothing", 'types { } default_type "";')}
    ${moved.join("\n")}
    location ~ ^/moved-pieces/(.*safetensors.*)$ { return 302 /$1; }
    location /moved-pieces/ { alias ${dist}/; }
    location ~ ^/moved-away/(.*)$ { return 302 ${elsewhere}/open/$1; }
    location ~ ^/moved-shut/(.*)$ { return 302 ${elsewhere}/shut/$1; }`;
}
const common = `
  log_format asked "$uri $status $http_range";
  limit_req_zone $server_port zone=busy503:32k rate=3r/s;
  limit_req_zone $server_port zone=busy429:32k rate=3r/s;`;

let server: RunningServer;
let elsewhere: RunningServer;
let expected: string;
test.beforeAll(async () => {
  // These files are compressed in advance, so nginx sends their length.
  cpSync(demo, join(scratch, "models/demo"), { recursive: true });
  for (const name of readdirSync(demo)) {
    const file = join(scratch, "models/demo", name);
    writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 1 }));
  }
  elsewhere = await startNginx(
    dist,
    `${below("open", "add_header Access-Control-Allow-Origin *;")} ${below("shut", "")}`,
  );
  server = await startNginx(dist, settings(elsewhere.origin), common);
  const call = ["--max-new-tokens", "8", "--temperature", "0", "--json"];
  expected = (native("generate", demo, "--prompt", prompt, ...call) as { text: string }).text;
});
test.afterAll(() => {
  server.stop();
  elsewhere.stop();
  rmSync(scratch, { recursive: true, force: true });
});

interface Outcome {
  /** The text, or the error. */
  end: string;
  retries: string[];
  /** The loaded bytes of each report, in order. */
  shares: number[];
  variant: string;
}

/** Loads a model, and writes. */
async function write(
  page: Page,
  name: string,
  options: object = {},
  blank = `${server.origin}/blank`,
): Promise<Outcome> {
  await page.goto(blank);
  return inPage(
    page,
    async (_, [origin, folder, load, text]) => {
      const { loadModel } = (await import(
        `${origin}/gpt2.js`
      )) as typeof import("../../web/src/client/index.js");
      const outcome: Outcome = { end: "", retries: [], shares: [], variant: "" };
      try {
        const model = await loadModel(`${origin}/${folder}/models/demo/`, {
          variant: "simd",
          cache: false,
          ...load,
          onProgress({ loadedBytes, totalBytes, retry, stage }) {
            if (retry !== undefined) outcome.retries.push(retry);
            if (stage !== "download") return;
            outcome.shares.push(loadedBytes / totalBytes);
            Object.assign(globalThis, { share: loadedBytes / totalBytes });
          },
        });
        outcome.variant = model.info.variant;
        outcome.end = (await model.complete(text, { maxNewTokens: 8, temperature: 0 })).text;
        await model.dispose();
      } catch (error) {
        const { code, message } = error as { code: string; message: string };
        outcome.end = `${code}: ${message}`;
      }
      return outcome;
    },
    [server.origin, name, options, prompt] as const,
  );
}

/** The requests below `/name/` that nginx has answered: a file's name, the status and the header Range of each. */
const answered = (name: string) =>
  readFileSync(logFile, "utf8")
    .split("\n")
    .filter((line) => line.startsWith(`/${name}/`))
    .map((line) => line.slice(line.lastIndexOf("/") + 1));

/** The headers that nginx sends with a piece below `/name/`, which show whether a setting has its effect. */
async function headersOf(name: string): Promise<Record<string, string>> {
  const url = `${server.origin}/${name}/models/demo/model.safetensors.001`;
  const response = await fetch(url, { headers: { "Accept-Encoding": "gzip" } });
  await response.body?.cancel();
  return Object.fromEntries(response.headers);
}

const absent = undefined;
for (const [what, name, headers] of [
  ["without ranges", "whole", { "accept-ranges": absent, "content-length": /^\d+$/ }],
  [
    "compressing on the way, without a length",
    "packed",
    { "content-encoding": /gzip/, "content-length": absent },
  ],
  [
    "with files that are compressed already, with their length",
    "packed-before",
    { "content-encoding": /gzip/, "content-length": /^\d+$/ },
  ],
  ["that gives every file as text/plain", "as-text", { "content-type": /^text\/plain$/ }],
  [
    "that gives every file as application/octet-stream",
    "as-bytes",
    { "content-type": /^application\/octet-stream$/ },
  ],
  ["that gives no file a type", "as-nothing", { "content-type": absent }],
  ["whose folder has moved (301)", "moved-301", {}],
  ["whose folder has moved (302)", "moved-302", {}],
  ["whose folder has moved (307)", "moved-307", {}],
  ["whose pieces have moved", "moved-pieces", {}],
  ["whose folder has moved to another port", "moved-away", { "access-control-allow-origin": /^\*$/ }],
] as const satisfies [string, string, Record<string, RegExp | undefined>][]) {
  test(`a model loads from nginx ${what}`, async ({ page }) => {
    const found = await headersOf(name);
    for (const [header, value] of Object.entries<RegExp | undefined>(headers)) {
      if (value) expect(found[header]).toMatch(value);
      else expect(found).not.toHaveProperty(header);
    }
    const { end, retries, shares } = await write(page, name);
    expect(end).toBe(expected);
    expect(retries).toEqual([]);
    expect(Math.max(...shares)).toBeLessThanOrEqual(1);
    expect(answered(name).join("\n")).toMatch(name.startsWith("moved") ? / 30[127] -$/m : / 200 -$/m);
  });
}

test("a folder that moved to a host without CORS is reported as unreachable", async ({ page }) => {
  const { end } = await write(page, "moved-shut");
  expect(end).toMatch(/^network: cannot fetch .*\/moved-shut\/models\/demo\/[\w.]+: /);
});

for (const code of [301, 307]) {
  test(`worker and engine load from a folder that has moved (${code})`, async ({ page }) => {
    const { end } = await write(page, "whole", { baseUrl: `/moved-${code}/` });
    expect(end).toBe(expected);
    expect(answered(`moved-${code}`).join("\n")).toMatch(/^gpt2-worker\.js 30[17] -$/m);
  });
}

test("threads run below a sub-path if nginx sends the headers for them, and only then", async ({ page }) => {
  const options = { variant: undefined, threads: 2 };
  const with_ = await write(page, "isolated", options, `${server.origin}/isolated/blank`);
  expect(with_).toMatchObject({ end: expected, variant: "threads-relaxed" });
  expect(await write(page, "isolated", options)).toMatchObject({ end: expected, variant: "simd-relaxed" });
});

test("a slow host is not reported as silent, and the progress continues", async ({ page }) => {
  const { end, retries, shares } = await write(page, "slow", { stallMs: 1500 });
  expect(end).toBe(expected);
  expect(retries).toEqual([]);
  expect(shares.length).toBeGreaterThan(5);
  expect(shares).toEqual([...shares].sort((a, b) => a - b));
});

for (const status of [503, 429]) {
  test(`a host that limits requests (${status}) is asked again after the time that it states`, async ({
    page,
  }) => {
    const { end, retries } = await write(page, `busy-${status}`);
    expect(end).toBe(expected);
    expect(retries).toContain(`the host answered ${status}`);
    expect(answered(`busy-${status}`).join("\n")).toContain(` ${status} `);
  });
}

/** Breaks every connection: nginx starts another worker at once. */
function breakConnections(): void {
  const workers = readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, "utf8").trim().split(" ");
  for (const worker of workers) process.kill(Number(worker), "SIGKILL");
}

for (const [what, name, rest] of [
  ["with ranges, which gives the rest", "slow", /^206 bytes=\d{6,}-$/],
  ["without ranges, which begins again", "slow-whole", /^200 bytes=\d{6,}-$/],
  ["that compresses, which gives the rest as it is", "slow-packed", /^206 bytes=\d{6,}-$/],
] as const) {
  test(`a load survives a connection that breaks in the middle of a host ${what}`, async ({ page }) => {
    const before = answered(name).length;
    const writing = write(page, name);
    const share = () => page.evaluate(() => Number(Reflect.get(globalThis, "share") ?? 0)).catch(() => 0);
    await expect.poll(share, { timeout: 30_000, intervals: [50] }).toBeGreaterThan(0.2);
    breakConnections();
    const { end, retries } = await writing;
    expect(end).toBe(expected);
    expect(retries.length).toBeGreaterThan(0);
    const rests = answered(name)
      .slice(before)
      .filter((line) => line.startsWith("model.safetensors."))
      .map((line) => line.slice(line.indexOf(" ") + 1));
    expect(
      rests.some((line) => rest.test(line)),
      rests.join("\n"),
    ).toBe(true);
  });
}
