// Any answer of a hub: requests stay below the model's folder, and only the hub gets the caller's headers. A load ends in
// bytes or in a Gpt2Error.
import * as fc from "fast-check";
import { readHubId } from "../../../web/src/client/hub-id.js";
import { headersFetch } from "../../../web/src/loader/headers-fetch.js";
import { chunksOf, UrlSource, type ModelSource } from "../../../web/src/loader/model-source.js";
import { Gpt2Error } from "../../../web/src/shared/errors.js";
import { HubSource } from "../../../web/src/sources/hub-source.js";
import { shortenPauses } from "./hurry.js";
import { fuzzTarget } from "./target.js";

const hub = "https://hub.example/sub/";
const home = new URL(hub).origin;

/** Any UTF-16 code unit, also half a surrogate pair. It is drawn as a number, because fc.string takes seconds to start. */
const character = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));

const piece = fc.oneof(
  fc.constantFrom(
    ...["..", ".", "/", "//", "\\", ":", "%2e%2e", "%2f", "?", "#", "@", "\0", "\t", " ", "\ud800", "\u202e"],
    ...[
      "https://evil.example",
      "//evil.example",
      "file:///etc/",
      "a",
      "user/tale",
      "x.gguf",
      "config.json",
      "refs/pr/1",
    ],
    ...[`${hub}user/tale`, "https://cdn.example/x?sign=1", "https://hub.example/elsewhere", "http://["],
  ),
  character,
);
const text = fc.array(piece, { maxLength: 5 }).map((parts) => parts.join(""));

const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 206, 301, 302, 303, 304, 307, 308, 401, 403, 404, 410, 451),
  /** A browser hides where a redirect leads; Node.js does not. */
  isOpaque: fc.boolean(),
  headers: fc.dictionary(
    fc.constantFrom(
      "location",
      "x-repo-commit",
      "x-error-code",
      "content-type",
      "content-range",
      "content-length",
      "etag",
    ),
    fc.oneof(text, fc.constantFrom("text/html", "bytes 0-1/2", "-1", "0".repeat(40), "GatedRepo")),
    { maxKeys: 4 },
  ),
  body: fc.oneof(
    fc.constantFrom("", "{}", "null", "[]", '{"siblings":0}', '{"siblings":[null,{"rfilename":3}]}'),
    text.map((name) => JSON.stringify({ sha: name, siblings: [{ rfilename: name }] })),
  ),
});

const input = fc.record({
  id: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom("user/tale", "gpt2", "user/tale@refs/pr/1", "user/tale/q/x.gguf@v1"),
    },
    text.map((rest) => `user/tale/${rest}.gguf`),
    text.map((rest) => `user/tale@${rest}`),
    text,
  ),
  names: fc.array(fc.oneof(fc.constantFrom("config.json", "model.safetensors"), text), {
    minLength: 1,
    maxLength: 3,
  }),
  isHub: fc.boolean(),
  headers: fc.constantFrom<[string, string][]>(
    [],
    [["authorization", "t"]],
    [["x-api-key", "k"]],
    [
      ["authorization", "t"],
      ["x-api-key", "k"],
    ],
  ),
  redirect: fc.constantFrom("follow" as const, "error" as const, undefined),
  answers: fc.array(answer, { minLength: 1, maxLength: 6 }),
});

/** A header as a host could send it. */
const sendable = (value: string) => value.replace(/[^\t\x20-\x7e\x80-\xff]/g, "");

type Answer = typeof answer extends fc.Arbitrary<infer Value> ? Value : never;

function responseOf({ status, isOpaque, headers, body }: Answer, url: string): Response {
  const isRedirect = [301, 302, 303, 307, 308].includes(status);
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [name, sendable(value)]);
  const made = new Response([304].includes(status) ? null : body, { status, headers: pairs });
  Object.defineProperty(made, "url", { value: url });
  if (isRedirect && isOpaque)
    Object.defineProperties(made, {
      type: { value: "opaqueredirect" },
      status: { value: 0 },
      headers: { value: new Headers() },
    });
  return made;
}

/** Whether a request is below one of `folders`. */
const isBelow = (url: string, folders: readonly string[]) => folders.some((folder) => url.startsWith(folder));

export const target = fuzzTarget({
  arbitrary: input,
  start: shortenPauses,
  async check({ id, names, isHub, headers, redirect, answers }) {
    const { signal } = new AbortController();
    const problems: string[] = [];
    let source: ModelSource;
    let folders: string[];
    /** Addresses to which earlier answers redirected the client. The client does not choose these. */
    const redirected = new Set<string>();
    let count = 0;
    const standIn = async (given: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
      const url = given instanceof Request ? given.url : String(given);
      const sent = new Headers(init.headers);
      const isOwn = new URL(url).origin === home;
      if (!isOwn && (sent.has("authorization") || sent.has("x-api-key")))
        problems.push(`${url} got the headers`);
      const wasSent = redirect !== "error" && redirected.has(url);
      if (!wasSent && !isBelow(url, folders)) problems.push(`${url} was asked`);
      if (sent.has("x-api-key") && init.redirect !== "manual") problems.push(`${url} may redirect the key`);
      const response = responseOf(answers[count++ % answers.length] as Answer, url);
      const location = response.headers.get("location");
      if (
        init.redirect === "manual" &&
        location !== null &&
        response.status >= 300 &&
        response.status < 400
      ) {
        try {
          redirected.add(new URL(location, url).href);
        } catch {
          // The address is invalid.
        }
      }
      return response;
    };
    Object.assign(globalThis, { fetch: standIn });
    try {
      const ask = headersFetch({ headers, credentials: undefined, redirect }, hub);
      if (isHub) {
        const request = readHubId(id, hub);
        folders = [`${hub}${request.id}/resolve/`, `${hub}api/models/${request.id}/revision/`];
        source = new HubSource(request, ask, { stallMs: 2, onRetry: () => {} });
        names = [...names, ...(request.file === undefined ? [] : [request.file])];
      } else {
        folders = [hub];
        source = new UrlSource(hub, ask);
      }
    } catch (error) {
      if (error instanceof Gpt2Error) return;
      throw error;
    }
    for (const name of names) await settle(() => readAll(source, name, signal));
    await settle(async () => source.version?.(signal));
    await settle(async () => source.list?.(signal));
    if (problems.length > 0) throw new Error(problems.join("; "));
  },
});

/** Runs `read`, which may throw only the errors of this package. */
async function settle(read: () => Promise<unknown>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof Gpt2Error)) throw error;
  }
}

async function readAll(source: ModelSource, name: string, signal: AbortSignal): Promise<void> {
  const file = await source.open(name, { signal });
  for await (const chunk of chunksOf(file, name, signal)) chunk.fill(0);
}
