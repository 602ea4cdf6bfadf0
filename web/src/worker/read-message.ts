// Reads what the page says: another script or another release may send anything.
import {
  threadLimit,
  type AdapterRequest,
  type GenerateRequest,
  type LoadRequest,
  type PrefillRequest,
  type RequestName,
  type Requests,
  type SourceRequest,
  type ThreadChoice,
  type ToWorker,
} from "../shared/protocol.js";
import { variants, type GenerateOptions } from "../shared/types.js";
import {
  amount,
  anyObject,
  choice,
  count,
  flag,
  is,
  limits,
  list,
  members,
  named,
  optional,
  record,
  text,
  whole,
  type Read,
} from "../shared/wire.js";

const name = text(limits.name);
const maybeName = optional(name);
const weights = choice(["q8", "q4", "f32"]);
const longText = text(limits.text);
const tokenIds = list(count(0, 2 ** 32 - 1), limits.tokenIds);
const prompt: Read<string | readonly number[]> = (value) =>
  Array.isArray(value) ? tokenIds(value) : longText(value);

const stop = text(limits.stopLength);
const stops = list(stop, limits.stops);
const plain = is("a number, true, false, text or an array of texts", (value) =>
  ["number", "boolean", "undefined"].includes(typeof value),
);
/** The value of an option: which options there are, and of which range, is for the engine to say. */
const option: Read<unknown> = (value) =>
  Array.isArray(value) ? stops(value) : typeof value === "string" ? stop(value) : plain(value);
const options = members(option, 64) as Read<GenerateOptions>;

const hub = record<Extract<SourceRequest, { kind: "hub" }>>({
  kind: choice(["hub"]),
  hub: name,
  id: name,
  revision: name,
  insteadOf: maybeName,
  file: maybeName,
});
const sources = {
  folder: record<Extract<SourceRequest, { kind: "folder" }>>({
    kind: choice(["folder"]),
    url: name,
    file: maybeName,
    orHub: optional(hub),
  }),
  hub,
  files: record<Extract<SourceRequest, { kind: "files" }>>({
    kind: choice(["files"]),
    files: list(record({ name, file: is<File>("a file", (value) => value instanceof Blob) }), limits.files),
    key: longText,
    file: maybeName,
  }),
};
const readKind = named("kind", choice(["folder", "hub", "files"]));
const source: Read<SourceRequest> = (value) => sources[readKind(anyObject(value).kind)](value);

const adapter = record<AdapterRequest>({
  source,
  weight: is<number>("a finite number", Number.isFinite),
});

const isPair = (value: unknown) =>
  Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === "string");
const headers = list(is<readonly [string, string]>("a pair of texts", isPair), limits.headers);

const isPort = (value: unknown) =>
  typeof value === "object" && value !== null && "postMessage" in value && "close" in value;

/** A prompt, and options beside it. */
const prompted: Read<Requests["inspect" | "score"]["args"]> = (value) => {
  const { prompt: given, ...others } = anyObject(value);
  named("prompt", prompt)(given);
  options(others);
  return value as Requests["inspect" | "score"]["args"];
};

const readArgs: { readonly [K in RequestName]: Read<Requests[K]["args"]> } = {
  load: record<LoadRequest>({
    source,
    adapters: optional(list(adapter, limits.adapters)),
    threads: optional(count(1, threadLimit)),
    threadChoices: members(record<Omit<ThreadChoice, "key">>({ threads: whole, speed: optional(amount) })),
    variant: optional(choice(variants)),
    kv: optional(choice(["q8", "f32"])),
    prompt,
    weights: optional(weights),
    stallMs: optional(count(1, 2 ** 31 - 1)),
    cache: flag,
    headers,
    credentials: optional(choice(["omit", "same-origin", "include"])),
    redirect: optional(choice(["follow", "error"])),
    fetchPort: optional(is("a port", isPort)),
  }),
  generate: record<GenerateRequest>({ prompt, options, ahead: amount }),
  prefill: record<PrefillRequest>({ prompt, allowSpecial: flag }),
  inspect: prompted,
  score: prompted,
  tokenize: record<Requests["tokenize"]["args"]>({ text: longText, allowSpecial: flag }),
  detokenize: tokenIds,
};
const readName = named("name", choice(Object.keys(readArgs) as RequestName[]));

/** What identifies a request. */
const id = count(1, Number.MAX_SAFE_INTEGER);

const readers: { readonly [T in ToWorker["type"]]: Read<unknown> } = {
  request(value) {
    const request = anyObject(value);
    named("id", id)(request.id);
    return named<unknown>("args", readArgs[readName(request.name)])(request.args);
  },
  cancel: record({ id }),
  read: record({ id, tokens: whole }),
  end: anyObject,
  online: anyObject,
};
const readType = named("type", choice(Object.keys(readers) as ToWorker["type"][]));

export const readToWorker: Read<ToWorker> = named("message", (value) => {
  readers[readType(anyObject(value).type)](value);
  return value as ToWorker;
});

/** The id of what is a request, whatever else is wrong with it; undefined where it has none. */
export function idOfRequest(value: unknown): number | undefined {
  const { type, id: given } = Object(value) as Readonly<Record<string, unknown>>;
  return type === "request" && Number.isSafeInteger(given) && Number(given) > 0 ? Number(given) : undefined;
}
