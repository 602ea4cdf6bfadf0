// Validates messages from the page: another script or another release may send anything.
import { kvFormats, weightFormats } from "../shared/formats.js";
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
  nonNegative,
  anyObject,
  choice,
  wholeNumberBetween,
  flag,
  readIf,
  limits,
  list,
  members,
  atField,
  optional,
  record,
  text,
  wholeNumber,
  type ReadValue,
} from "../shared/wire.js";

const name = text(limits.name);
const maybeName = optional(name);
const weights = choice(weightFormats);
const longText = text(limits.text);
const tokenIds = list(wholeNumberBetween(0, 2 ** 32 - 1), limits.tokenIds);
const prompt: ReadValue<string | readonly number[]> = (value) =>
  Array.isArray(value) ? tokenIds(value) : longText(value);

const stop = text(limits.stopLength);
const stops = list(stop, limits.stops);
const plain = readIf("a number, true, false, text or an array of texts", (value) =>
  ["number", "boolean", "undefined"].includes(typeof value),
);
/** The value of an option. The engine checks which options exist and their ranges. */
const option: ReadValue<unknown> = (value) =>
  Array.isArray(value) ? stops(value) : typeof value === "string" ? stop(value) : plain(value);
const options = members(option, 64) as ReadValue<GenerateOptions>;

const hub = record<Extract<SourceRequest, { kind: "hub" }>>({
  kind: choice(["hub"]),
  hub: name,
  id: name,
  revision: name,
  insteadOf: maybeName,
  quantization: maybeName,
  file: maybeName,
});
const sources = {
  folder: record<Extract<SourceRequest, { kind: "folder" }>>({
    kind: choice(["folder"]),
    url: name,
    file: maybeName,
    query: optional(longText),
    orHub: optional(hub),
  }),
  hub,
  files: record<Extract<SourceRequest, { kind: "files" }>>({
    kind: choice(["files"]),
    files: list(
      record({ name, file: readIf<File>("a file", (value) => value instanceof Blob) }),
      limits.files,
    ),
    key: longText,
    file: maybeName,
  }),
};
const readKind = atField("kind", choice(["folder", "hub", "files"]));
const source: ReadValue<SourceRequest> = (value) => sources[readKind(anyObject(value).kind)](value);

const adapter = record<AdapterRequest>({
  source,
  weight: readIf<number>("a finite number", Number.isFinite),
});

const isPair = (value: unknown) =>
  Array.isArray(value) && value.length === 2 && value.every((each) => typeof each === "string");
const headers = list(readIf<readonly [string, string]>("a pair of texts", isPair), limits.headers);

const isPort = (value: unknown) =>
  typeof value === "object" && value !== null && "postMessage" in value && "close" in value;

/** Changes of the forward pass. The worker checks their members when it runs them. */
const changes = optional(list(anyObject, limits.members));

/** A prompt with options. */
const prompted: ReadValue<Requests["inspect" | "score"]["args"]> = (value) => {
  const { prompt: given, change, positions, ...others } = anyObject(value);
  atField("prompt", prompt)(given);
  atField("change", changes)(change);
  atField("positions", optional(tokenIds))(positions);
  options(others);
  return value as Requests["inspect" | "score"]["args"];
};

const readArgs: { readonly [K in RequestName]: ReadValue<Requests[K]["args"]> } = {
  load: record<LoadRequest>({
    source,
    adapters: optional(list(adapter, limits.adapters)),
    threads: optional(wholeNumberBetween(1, threadLimit)),
    threadChoices: members(
      record<Omit<ThreadChoice, "key">>({ threads: wholeNumber, speed: optional(nonNegative) }),
    ),
    variant: optional(choice(variants)),
    kv: optional(choice(kvFormats)),
    prompt,
    weights: optional(weights),
    stallMs: optional(wholeNumberBetween(1, 2 ** 31 - 1)),
    cache: flag,
    headers,
    credentials: optional(choice(["omit", "same-origin", "include"])),
    redirect: optional(choice(["follow", "error"])),
    fetchPort: optional(readIf("a port", isPort)),
  }),
  generate: record<GenerateRequest>({ prompt, options, change: changes, ahead: nonNegative }),
  prefill: record<PrefillRequest>({ prompt, allowSpecial: flag }),
  inspect: prompted,
  score: prompted,
  tokenize: record<Requests["tokenize"]["args"]>({
    text: longText,
    allowSpecial: flag,
    places: optional(flag),
  }),
  detokenize: tokenIds,
};
const readName = atField("name", choice(Object.keys(readArgs) as RequestName[]));

/** Identifies a request. */
const id = wholeNumberBetween(1, Number.MAX_SAFE_INTEGER);

const readers: { readonly [T in ToWorker["type"]]: ReadValue<unknown> } = {
  request(value) {
    const request = anyObject(value);
    atField("id", id)(request.id);
    return atField<unknown>("args", readArgs[readName(request.name)])(request.args);
  },
  cancel: record({ id }),
  read: record({ id, tokens: wholeNumber }),
  end: anyObject,
  online: anyObject,
};
const readType = atField("type", choice(Object.keys(readers) as ToWorker["type"][]));

export const readToWorker: ReadValue<ToWorker> = atField("message", (value) => {
  readers[readType(anyObject(value).type)](value);
  return value as ToWorker;
});

/** The id of a request, even if the rest of it is invalid; undefined if it has none. */
export function idOfRequest(value: unknown): number | undefined {
  const { type, id: given } = Object(value) as Readonly<Record<string, unknown>>;
  return type === "request" && Number.isSafeInteger(given) && Number(given) > 0 ? Number(given) : undefined;
}
