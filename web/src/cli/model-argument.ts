// The models and adapters that arguments name: paths, addresses, and ids on the Hub.
import { setMaxListeners } from "node:events";
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isHubId, readHubId } from "../client/hub-id.js";
import { readSource } from "../client/read-source.js";
import { fetchFileToo } from "../node/fetch-file.js";
import { usualHub, type AdapterRequest, type SourceRequest } from "../shared/protocol.js";
import type { Option, Values } from "./command.js";
import { UsageError } from "./messages.js";

/** Options of every command that takes a model. */
export const modelOptions: Readonly<Record<string, Option>> = {
  adapter: {
    value: "SOURCE[=WEIGHT]",
    isList: true,
    help: "Merge this LoRA adapter, times WEIGHT [1]; you can repeat it",
  },
  revision: { value: "NAME", help: "Branch, tag or commit of a model of the Hub [main]" },
  hub: { value: "URL", help: `Address of the hub [HF_ENDPOINT, or ${usualHub}]` },
};

export const networkHelp = `Environment:
  HF_TOKEN      The token for a private model, or one with conditions. Only the hub receives it.
  HF_ENDPOINT   The address of another hub.
  HTTPS_PROXY   The proxy. Node.js reads it only if you also set NODE_USE_ENV_PROXY=1 (Node.js 22.21, 24, or newer).`;

export const sourceHelp =
  "Id on the Hub (user/name, user/name@revision, user/name:Q8_0), address, folder or .gguf file";

const isAddress = (text: string) => /^(https?|file):/i.test(text);

/** The absolute path of an existing folder. */
export function folderNamed(text: string): string {
  const path = resolve(text);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new UsageError(`there is no folder ${path}`);
}

/** The hub's address, as the user wrote it. */
const hubOf = (values: Values): string => values.text("hub") ?? (process.env.HF_ENDPOINT || usualHub);

/** HF_TOKEN; undefined if it is not set. No message repeats it. */
export function readToken(): string | undefined {
  const token = process.env.HF_TOKEN ?? "";
  if (/^[\x21-\x7e]*$/.test(token)) return token || undefined;
  throw new UsageError(
    "HF_TOKEN contains a character that no token has, such as a space or a line break: copy your token again",
  );
}

/** The model or adapter that `text` names. `what` is for messages. A path is relative to the working directory. */
async function sourceOf(text: string, what: string, values: Values): Promise<SourceRequest> {
  const path = resolve(text);
  if (text.trim() === "") throw new UsageError(`${what} is empty`);
  if (isAddress(text)) return readSource(text, undefined, what);
  if (existsSync(path)) {
    const isModel = statSync(path).isDirectory() || /\.gguf$/i.test(path);
    if (isModel) return readSource(pathToFileURL(path).href, undefined, what);
    throw new UsageError(`${what} is the file ${path}, expected a folder or a .gguf file`);
  }
  if (isHubId(text)) return readHubId(text, hubOf(values));
  throw new UsageError(
    `${what} is "${text}", expected an id on the Hub or an address: no file has this path`,
  );
}

/** The model that the argument `text` and the option --revision name. */
export async function modelOf(text: string, values: Values): Promise<SourceRequest> {
  const source = await sourceOf(text, "the model", values);
  const revision = values.text("revision");
  if (revision === undefined) return source;
  if (source.kind !== "hub") throw new UsageError("--revision is only for a model of the Hub");
  return { ...source, revision: readHubId(`${source.id}@${revision}`, source.hub).revision };
}

/** The adapters of --adapter, in order. */
export const adaptersOf = (values: Values): Promise<AdapterRequest[]> =>
  Promise.all(
    values.list("adapter").map(async (text) => {
      // A number after a colon is a weight, too, unless it is the port of an address.
      const [, name = text, weight = "1"] =
        /^(?!\w+:\/\/[^/]*$)(.+)[=:]([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)$/i.exec(text) ?? [];
      return { source: await sourceOf(name, "the adapter", values), weight: Number(weight) };
    }),
  );

/** Makes fetch read files, and send HF_TOKEN to the hub's own origin. A redirect to another origin drops it (WHATWG fetch). */
export function prepareFetch(values: Values): void {
  const token = readToken();
  const origin = new URL(readHubId("user/name", hubOf(values)).hub).origin;
  const plain = globalThis.fetch;
  setMaxListeners(0); // all files of a model listen to one signal: with more than ten, Node.js would warn of a leak
  globalThis.fetch = fetchFileToo(async (input, init) => {
    const headers = new Headers(init?.headers);
    const url = new URL(input instanceof Request ? input.url : input);
    if (token !== undefined && url.origin === origin) headers.set("Authorization", `Bearer ${token}`);
    return plain(input, { ...init, headers });
  });
}
