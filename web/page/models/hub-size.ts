// How much a model of the hub is to download and to hold, before anything is.
import { readHubId } from "../../src/client/hub-id.js";
import { apiAddress } from "../../src/shared/hub-address.js";
import { phrase } from "../language/models.js";
import { weightBytesOf } from "./estimate.js";

/** Of what the hub tells, as huggingface.co/docs/hub/api has it, all that is used here; undefined where it is not as expected. */
interface Answer {
  kind: string | undefined;
  files: { name: string; bytes: number | undefined }[] | undefined;
  /** Numbers of the weights that its safetensors files hold. */
  floats: number | undefined;
  /** Numbers of the weights that a GGUF file of it holds. */
  ggufWeights: number | undefined;
  /** Codes of the languages that its README names. */
  languages: string[];
}

const fieldsOf = (value: unknown) => Object(value) as Record<string, unknown>;
const stringOf = (value: unknown) => (typeof value === "string" ? value : undefined);
const numberOf = (value: unknown) => (typeof value === "number" ? value : undefined);

/** Others, as "code" and "multilingual", are no codes of a language. */
const isLanguage = (value: unknown): value is string =>
  typeof value === "string" && /^[a-z]{2,3}$/.test(value);

function parseAnswer(value: unknown): Answer {
  const { config, siblings, safetensors, gguf, cardData } = fieldsOf(value);
  const files = Array.isArray(siblings) ? siblings.map(fieldsOf) : undefined;
  return {
    kind: stringOf(fieldsOf(config)["model_type"]),
    files: files?.map(({ rfilename, size }) => ({ name: stringOf(rfilename) ?? "", bytes: numberOf(size) })),
    floats: numberOf(fieldsOf(safetensors)["total"]),
    ggufWeights: numberOf(fieldsOf(gguf)["total"]),
    languages: [fieldsOf(cardData)["language"]].flat().filter(isLanguage),
  };
}

/** What the hub answers for a model that it does not have, or not for everyone. */
const isAbsent = (status: number) => [401, 403, 404].includes(status);

/** Why the hub gives no answer about a model, as a sentence. */
interface NoAnswer {
  isAbsent: boolean;
  why: () => string;
}

/** What the hub answers about the model `name`; an answer that is no JSON tells nothing. */
async function ask(url: string, name: string, signal: AbortSignal): Promise<Answer | NoAnswer> {
  let response: Response;
  try {
    response = await fetch(url, { signal });
  } catch {
    return { isAbsent: false, why: () => phrase("unreachable") };
  }
  const { ok, status } = response;
  if (isAbsent(status)) return { isAbsent: true, why: () => phrase("absent", { name }) };
  if (!ok) return { isAbsent: false, why: () => phrase("refusing", { status: String(status) }) };
  return parseAnswer(await response.json().catch(() => undefined));
}

/** The larger of these formats is of no use where there is the smaller. */
const formats: readonly { test: (name: string) => boolean; isConverted: boolean }[] = [
  { test: (name) => /^model\.safetensors\.\d+$/.test(name), isConverted: true },
  { test: (name) => name === "model.safetensors", isConverted: false },
  { test: (name) => /^model-\d+-of-\d+\.safetensors$/.test(name), isConverted: false },
  { test: (name) => name === "pytorch_model.bin", isConverted: false },
  { test: (name) => /^pytorch_model-\d+-of-\d+\.bin$/.test(name), isConverted: false },
];

export interface HubSize {
  /** To download; undefined where the hub does not say. */
  bytes?: number;
  /** Of the weights in memory; undefined if unknown. */
  weightBytes?: number;
  /** Codes of the languages that it writes, as far as its README names them. */
  languages?: readonly string[];
  /** Why it cannot be loaded, as a sentence. */
  refusal?: () => string;
  /** Why the hub gave no answer, as a sentence. The model may load all the same. */
  silence?: () => string;
}

/**
 * What the hub tells of `id`, as owner/name, owner/name/file.gguf, with @revision or without, whose floats and blocks are to
 * become `weights`. Of what it does not tell nothing is downloaded before that is said: its files may come all the same.
 */
export async function askHubSize(id: string, weights: "q8" | "q4", signal: AbortSignal): Promise<HubSize> {
  const request = readHubId(id);
  const { file } = request;
  const answer = await ask(`${apiAddress(request, request.revision)}?blobs=true`, id, signal);
  if ("why" in answer) return answer.isAbsent ? { refusal: answer.why } : { silence: answer.why };
  const { kind, languages } = answer;
  if (kind !== undefined && kind !== "gpt2") {
    return { refusal: () => phrase("otherKind", { name: request.id, kind }) };
  }
  const size = sizeOf(answer, file, weights);
  return languages.length > 0 ? { ...size, languages } : size;
}

/** Of `file`, or of the files that the page would load. */
function sizeOf(
  { files, floats, ggufWeights }: Answer,
  file: string | undefined,
  weights: "q8" | "q4",
): Pick<HubSize, "bytes" | "weightBytes"> {
  if (!files) return {};
  const named = { test: (other: string) => other === file, isConverted: false };
  for (const { test, isConverted } of file ? [named] : formats) {
    const found = files.filter((each) => test(each.name));
    if (found.length === 0) continue;
    const bytes = found.reduce((sum, each) => sum + (each.bytes ?? NaN), 0);
    if (!Number.isFinite(bytes)) return {};
    if (isConverted) return { bytes, weightBytes: bytes };
    const count = file ? ggufWeights : floats; // their bytes do not tell: of 32 bits each, of 16, or of blocks
    return count === undefined ? { bytes } : { bytes, weightBytes: weightBytesOf(count, weights) };
  }
  return {};
}
