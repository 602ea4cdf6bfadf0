// Any answer of a hub: no request carries the token elsewhere or goes to a forbidden host, and no file is outside the
// folder. All ends in a result or in a message without characters that could steer a terminal.
import { dirname, join, resolve } from "node:path";
import * as fc from "fast-check";
import { parseHub } from "../../../weights_tools/hub/addresses.mjs";
import { chooseFiles, chooseShards, isShardList } from "../../../weights_tools/hub/choose-files.mjs";
import { PassingError, request } from "../../../weights_tools/hub/download.mjs";
import { FetchError, visible } from "../../../weights_tools/hub/messages.mjs";
import { openRepository, parseId } from "../../../weights_tools/hub/repository.mjs";
import { commit, entry, privateHosts, ScriptedHub, token } from "../../weights_tools/scripted-hub.js";
import { fuzzTarget } from "./target.js";

const out = "/out";
const isPublic = (hub: string) => hub.includes("hub.example");
const hubs = [
  "https://hub.example",
  "https://hub.example/path",
  "http://hub.example",
  "http://intranet",
  "http://localhost:1",
];
const isLocal = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\]|intranet|router\.example)$/;
/** Hosts in addresses that redirects and lists give. */
const hosts = [
  "hub.example",
  "cdn.example",
  "evil.example",
  "localhost",
  "127.0.0.1",
  "[::1]",
  "2130706433",
  ...Object.keys(privateHosts),
];
const pieces = [
  "http:",
  "https:",
  "file:",
  "data:",
  "//",
  "/",
  "\\",
  "..",
  "@",
  "user:pw@",
  ":80",
  ":1",
  "?",
  "#",
  "%2e",
  " ",
  "\t",
  "[",
  ...hosts,
];

/** The possible value of a header: bytes, except for line breaks. */
const headerText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...pieces),
      fc.integer({ min: 0x80, max: 0xff }).map((byte) => String.fromCharCode(byte)),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(""));
const address = fc.oneof(
  fc
    .tuple(
      fc.constantFrom("https://", "http://", "//", ""),
      fc.constantFrom(...hosts),
      fc.constantFrom("", "/x", ":81/x", "/?a"),
    )
    .map((parts) => parts.join("")),
  headerText,
);
const usualNames = [
  "config.json",
  "model.safetensors",
  "model.safetensors.index.json",
  "vocab.json",
  "merges.txt",
  "a.safetensors",
  "A.safetensors",
  "pytorch_model.bin",
];
const name = fc.oneof(
  fc.constantFrom(...usualNames),
  fc
    .array(
      fc.oneof(
        fc.constantFrom(
          "..",
          "/",
          "\\",
          ".safetensors",
          "\u001b[2J",
          "\u202e",
          "\ud800",
          "\u{e0041}",
          "\u009b",
          "\n",
          token,
        ),
        fc.string({ unit: "binary-ascii", maxLength: 3 }),
      ),
      { maxLength: 5 },
    )
    .map((parts) => parts.join("")),
);
const digest = fc.constantFrom("0".repeat(40), "f".repeat(64), "x", "../");
const number = fc.oneof(fc.nat(), fc.double(), fc.constantFrom(-1, 2 ** 53, 1e300));
const listed = fc.oneof(
  { weight: 4, arbitrary: name.map((each) => entry(each)) },
  fc.record(
    {
      type: fc.constantFrom("file", "directory", 1),
      path: fc.oneof(name, number),
      size: number,
      oid: fc.oneof(digest, number),
      lfs: fc.oneof(
        fc.constant(null),
        fc.record({ oid: digest, size: number }),
        fc.jsonValue({ maxDepth: 1 }),
      ),
    },
    { requiredKeys: [] },
  ),
  fc.jsonValue({ maxDepth: 1 }),
);
const body = fc.oneof(
  { weight: 3, arbitrary: fc.constant(JSON.stringify({ sha: commit })) },
  {
    weight: 6,
    arbitrary: fc
      .array(listed, { maxLength: 5 })
      .map((list) => JSON.stringify([entry("config.json"), entry("model.safetensors.index.json"), ...list])),
  },
  fc.array(listed, { maxLength: 5 }).map((list) => JSON.stringify(list)),
  fc.json({ maxDepth: 3 }),
  fc.string({ unit: "binary-ascii", maxLength: 20 }),
);
const answer = fc.oneof(
  { weight: 6, arbitrary: fc.record({ status: fc.constant(200), body }) },
  {
    weight: 2,
    arbitrary: fc.record({ status: fc.constantFrom(301, 302, 303, 307, 308), location: address }),
  },
  fc.record({ status: fc.constant(200), body, link: address.map((next) => `<${next}>; rel="next"`) }),
  fc.record(
    {
      status: fc.integer({ min: 200, max: 599 }),
      body,
      location: address,
      link: headerText,
      type: headerText,
    },
    { requiredKeys: ["status"] },
  ),
  fc.constantFrom("usual", "no connection"),
);
interface Answer {
  status: number;
  body?: string;
  location?: string;
  link?: string;
  type?: string;
}

/** A simulated answer of the network. */
function respond(answer: Answer | string | undefined): Response | undefined {
  if (answer === "no connection")
    throw new TypeError("fetch failed", { cause: new Error("refused \u001b[2J") });
  if (answer === undefined || typeof answer === "string") return undefined;
  const headers = new Headers();
  for (const [key, value] of [
    ["location", answer.location],
    ["link", answer.link],
    ["content-type", answer.type],
  ] as const)
    if (value !== undefined) headers.set(key, value);
  const hasNoBody = [204, 205, 304].includes(answer.status);
  return new Response(hasNoBody ? null : (answer.body ?? ""), { status: answer.status, headers });
}

function checkRequests({ asked }: ScriptedHub, hub: string) {
  const { origin, protocol } = new URL(hub);
  if (asked.length > 1200) throw new Error(`${asked.length} requests`);
  for (const { url, hasToken } of asked) {
    if (hasToken && url.origin !== origin) throw new Error(`the token went to ${url.href}`);
    if (!/^https?:$/.test(url.protocol) || url.username + url.password !== "") throw new Error(url.href);
    if (protocol === "https:" && url.protocol !== "https:") throw new Error(`unencrypted: ${url.href}`);
    if (isPublic(hub) && isLocal.test(url.hostname)) throw new Error(`private: ${url.href}`);
  }
}

async function fetchAll(scripted: ScriptedHub, { id, list }: { id: string; list: string }) {
  const { access } = scripted;
  const wanted = parseId(id);
  const repository = await openRepository(wanted, access);
  const files = chooseFiles(repository);
  const shards = files.find(({ name }) => isShardList(name));
  if (shards) files.push(...chooseShards(repository, shards.name, list));
  for (const file of files) {
    if (dirname(resolve(out, file.name)) !== out) throw new Error(`${join(out, file.name)} is outside`);
    const folder = `${access.hub}/${wanted.id}/resolve/${repository.commit}/`;
    if (new URL(file.url).href !== folder + encodeURIComponent(file.name))
      throw new Error(`${file.url} is elsewhere`);
    await (await request(file, 0, access, new AbortController().signal)).body.cancel();
  }
  return files;
}

export const target = fuzzTarget({
  arbitrary: fc.record({
    hub: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...hubs) }, address),
    id: fc.oneof(
      { weight: 9, arbitrary: fc.constant("user/tied") },
      fc.string({ unit: "binary-ascii", maxLength: 8 }),
      headerText,
    ),
    // The answers to the requests for the model, for the list and for its files.
    answers: fc.tuple(
      fc.oneof({ weight: 9, arbitrary: fc.constant("usual") }, answer),
      answer,
      answer,
      answer,
      answer,
    ),
    list: fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .array(fc.oneof(name, fc.jsonValue({ maxDepth: 1 })), { maxLength: 4 })
          .map((names) => JSON.stringify({ weight_map: names })),
      },
      fc.json({ maxDepth: 2 }),
      fc.string(),
    ),
  }),
  start() {
    process.env.HF_TOKEN = token;
    return Promise.resolve();
  },
  async check({ hub: text, id, answers, list }) {
    let scripted: ScriptedHub | undefined;
    let said: string;
    try {
      const hub = parseHub(text);
      if (!hubs.includes(hub) && new URL(hub).username !== "") throw new Error(hub);
      const left = [...answers];
      scripted = new ScriptedHub(hub, () => respond(left.shift()));
      said = JSON.stringify(await fetchAll(scripted, { id, list }));
    } catch (error) {
      if (!(
        error instanceof FetchError ||
        error instanceof PassingError ||
        String(error).startsWith("TypeError: fetch failed")
      ))
        throw error;
      said = error instanceof Error ? error.message : "";
    }
    if (scripted && hubs.includes(scripted.access.hub)) checkRequests(scripted, scripted.access.hub);
    if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(visible(said)) || visible(said).includes(token))
      throw new Error(said);
  },
});
