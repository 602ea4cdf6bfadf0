// Any answer of a hub, as the page and Node.js read it.
import * as fc from "fast-check";
import { expect } from "vitest";
import { readHubId } from "../../../web/src/client/hub-id.js";
import { headersFetch } from "../../../web/src/model/sources/headers-fetch.js";
import { chunksOf, UrlSource, type ModelSource } from "../../../web/src/model/sources/model-source.js";
import { Gpt2Error } from "../../../web/src/shared/errors.js";
import { HubSource } from "../../../web/src/model/sources/hub-source.js";
import { answerOf, isRedirect, responseOf, trickyText, type Answer } from "./hub-answers.js";
import { property, shortenPauses, unlessRefused } from "./property.js";

const hub = "https://hub.example/sub/";
const authorization: [string, string] = ["authorization", "t"];
const apiKey: [string, string] = ["x-api-key", "k"];
const body = fc.oneof(
  fc.constantFrom("", "{}", "null", "[]", '{"siblings":0}', '{"siblings":[null,{"rfilename":3}]}'),
  trickyText.map((name) => JSON.stringify({ sha: name, siblings: [{ rfilename: name }] })),
);

async function readAll(source: ModelSource, name: string, signal: AbortSignal): Promise<void> {
  const file = await source.open(name, { signal });
  for await (const chunk of chunksOf(file, name, signal)) chunk.fill(0);
}

shortenPauses();
property(
  "requests stay below the model's folder, only the hub gets the headers, and a load ends in bytes or in a Gpt2Error",
  fc.record({
    id: fc
      .tuple(
        fc.constantFrom("user/tale", "user/tale/", "user/tale@", "u/t/q/x.gguf@v1", "gpt2", ""),
        trickyText,
      )
      .chain(([begin, rest]) => fc.constantFrom(begin, begin + rest, `${begin}${rest}.gguf`)),
    name: fc.oneof(fc.constantFrom("config.json", "model.safetensors"), trickyText),
    isHub: fc.boolean(),
    headers: fc.subarray([authorization, apiKey]),
    redirect: fc.constantFrom("follow" as const, "error" as const, undefined),
    /** A browser hides where a redirect leads; Node.js does not. */
    hidesRedirects: fc.boolean(),
    answers: fc.array(answerOf(body), { minLength: 1, maxLength: 6 }),
  }),
  async ({ id, name, isHub, headers, redirect, hidesRedirects, answers }) => {
    const { signal } = new AbortController();
    const problems: string[] = [];
    const names = [name];
    let folders = [hub];
    /** Addresses to which earlier answers redirected the client. The client does not choose these. */
    const redirected = new Set<string>();
    let count = 0;
    const standIn = (given: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
      const url = given instanceof Request ? given.url : String(given);
      const sent = new Headers(init.headers);
      if (new URL(url).origin !== new URL(hub).origin && (sent.has("authorization") || sent.has("x-api-key")))
        problems.push(`${url} got the headers`);
      const wasSent = redirect !== "error" && redirected.has(url);
      if (!wasSent && !folders.some((folder) => url.startsWith(folder))) problems.push(`${url} was asked`);
      if (sent.has("x-api-key") && init.redirect !== "manual") problems.push(`${url} may redirect the key`);
      const answer = answers[count++ % answers.length] as Answer;
      const response = responseOf(answer);
      const location = response.headers.get("location") ?? "";
      const isHidden = hidesRedirects && isRedirect(answer);
      if (isRedirect(answer) && !isHidden && init.redirect === "manual" && URL.canParse(location, url))
        redirected.add(new URL(location, url).href);
      const seen = { url, ...(isHidden && { type: "opaqueredirect", status: 0, headers: new Headers() }) };
      for (const [key, value] of Object.entries(seen)) Object.defineProperty(response, key, { value });
      return Promise.resolve(response);
    };
    Object.assign(globalThis, { fetch: standIn });
    const source = await unlessRefused(Gpt2Error, (): ModelSource => {
      const ask = headersFetch({ headers, credentials: undefined, redirect }, hub);
      if (!isHub) return new UrlSource(hub, ask);
      const request = readHubId(id, hub);
      folders = [`${hub}${request.id}/resolve/`, `${hub}api/models/${request.id}/revision/`];
      if (request.file !== undefined) names.push(request.file);
      return new HubSource(request, ask, { stallMs: 2, onRetry: () => {} });
    });
    if (!source) return;
    for (const each of names) await unlessRefused(Gpt2Error, () => readAll(source, each, signal));
    await unlessRefused(Gpt2Error, () => source.version?.(signal));
    await unlessRefused(Gpt2Error, () => source.list?.(signal));
    expect(problems).toEqual([]);
  },
);
