// Any answer of a hub, as `gpt2-weights fetch` reads it.
import { dirname, resolve } from "node:path";
import * as fc from "fast-check";
import { expect } from "vitest";
import { parseHub } from "../../../weights_tools/hub/addresses.mjs";
import { chooseFiles, chooseShards, isShardList } from "../../../weights_tools/hub/choose-files.mjs";
import { PassingError, request } from "../../../weights_tools/hub/download.mjs";
import { FetchError, visible } from "../../../weights_tools/hub/messages.mjs";
import { openRepository, parseId } from "../../../weights_tools/hub/repository.mjs";
import { commit, ScriptedHub, token } from "../../weights_tools/scripted-hub.js";
import { answerOf, entries, oddValue, responseOf, trickyText } from "./hub-answers.js";
import { property } from "./property.js";

const out = "/out";
const hubs = ["https://hub.example", "https://hub.example/path", "http://hub.example", "http://intranet"];
const isLocal = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\]|intranet|router\.example)$/;

const body = fc.oneof(fc.constant(JSON.stringify({ sha: commit })), { weight: 4, arbitrary: entries });
const names = fc.array(fc.oneof(fc.constant("a.safetensors"), oddValue), { maxLength: 4 });
const shards = names.map((all) => JSON.stringify({ weight_map: [...all, `${token}.safetensors`] }));

/** The token goes to the hub alone, and a public hub leads neither to a private host nor away from encryption. */
function checkRequests({ asked, access: { hub } }: ScriptedHub): void {
  const { origin, protocol } = new URL(hub);
  expect(asked.length).toBeLessThanOrEqual(1200);
  for (const { url, hasToken } of asked) {
    if (hasToken) expect(url.origin).toBe(origin);
    expect(url.protocol).toMatch(protocol === "https:" ? /^https:$/ : /^https?:$/);
    expect(url.username + url.password).toBe("");
    if (hub.includes("hub.example")) expect(url.hostname).not.toMatch(isLocal);
  }
}

async function fetchAll({ access }: ScriptedHub, id: string, list: string) {
  const wanted = parseId(id);
  const repository = await openRepository(wanted, access);
  const files = chooseFiles(repository);
  const shardList = files.find((file) => isShardList(file.name));
  if (shardList) files.push(...chooseShards(repository, shardList.name, list));
  for (const file of files) {
    expect(dirname(resolve(out, file.name))).toBe(out);
    const folder = `${access.hub}/${wanted.id}/resolve/${repository.commit}/`;
    expect(new URL(file.url).href).toBe(folder + encodeURIComponent(file.name));
    await (await request(file, 0, access, new AbortController().signal)).body.cancel();
  }
  return files;
}

process.env.HF_TOKEN = token;
property(
  "no hub gets the token of another, a forbidden request, a file outside the folder, or a character to steer a terminal",
  fc.record({
    hub: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...hubs) }, trickyText),
    id: fc.oneof({ weight: 9, arbitrary: fc.constant("user/tied") }, trickyText),
    /** To the requests in turn; null is the usual answer, and "down" no connection. */
    answers: fc.array(
      fc.option(fc.oneof({ weight: 9, arbitrary: answerOf(body) }, fc.constant("down" as const))),
    ),
    list: fc.oneof({ weight: 3, arbitrary: shards }, fc.json({ maxDepth: 2 }), fc.string()),
  }),
  async ({ hub: text, id, answers, list }) => {
    let scripted: ScriptedHub | undefined;
    let said: string;
    const left = [null, ...answers];
    const respond = (): Response | undefined => {
      const answer = left.shift();
      if (answer === "down") throw new TypeError("fetch failed", { cause: new Error("refused \u001b[2J") });
      return answer ? responseOf(answer) : undefined;
    };
    try {
      scripted = new ScriptedHub(parseHub(text), respond);
      said = JSON.stringify(await fetchAll(scripted, id, list));
    } catch (error) {
      const isExpected = error instanceof FetchError || error instanceof PassingError;
      if (!isExpected && !String(error).startsWith("TypeError: fetch failed")) throw error;
      said = (error as Error).message;
    }
    if (scripted && hubs.includes(scripted.access.hub)) checkRequests(scripted);
    expect(visible(said)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    expect(visible(said)).not.toContain(token);
  },
);
