// Asks the Hub for a model's download size and memory before anything is downloaded.
import type { Quantized } from "../../src/shared/formats.js";
import { readHubId } from "../../src/client/hub-id.js";
import { apiAddress, isQuantized } from "../../src/model/sources/hub-address.js";
import type { HubRequest } from "../../src/shared/protocol.js";
import { phrase } from "../language/models.js";
import { weightBytesOf } from "./estimate.js";

/** The part of the Hub's answer that is used here (huggingface.co/docs/hub/api); undefined if it is not as expected. */
interface Answer {
  kind: string | undefined;
  files: { name: string; bytes: number | undefined }[] | undefined;
  /** Number of weights in its safetensors files. */
  floats: number | undefined;
  /** Number of weights in its GGUF file. */
  ggufWeights: number | undefined;
  /** Language codes in its README. */
  languages: string[];
}

const fieldsOf = (value: unknown) => Object(value) as Record<string, unknown>;
const stringOf = (value: unknown) => (typeof value === "string" ? value : undefined);
const numberOf = (value: unknown) => (typeof value === "number" ? value : undefined);

/** Other values, such as "code" and "multilingual", are not language codes. */
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

/** Status codes of the Hub for a model that is missing or not public. */
const isAbsent = (status: number) => [401, 403, 404].includes(status);

/** Why the hub gives no answer about a model, as a sentence. */
interface NoAnswer {
  isAbsent: boolean;
  why: () => string;
}

/** The Hub's answer about the model `name`; an answer that is not JSON counts as empty. */
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

/** If a smaller one of these formats exists, larger ones are not needed. */
const formats: readonly { test: (name: string) => boolean; isConverted: boolean }[] = [
  { test: (name) => /^model\.safetensors\.\d+$/.test(name), isConverted: true },
  { test: (name) => name === "model.safetensors", isConverted: false },
  { test: (name) => /^model-\d+-of-\d+\.safetensors$/.test(name), isConverted: false },
  { test: (name) => name === "pytorch_model.bin", isConverted: false },
  { test: (name) => /^pytorch_model-\d+-of-\d+\.bin$/.test(name), isConverted: false },
];

export interface HubSize {
  /** Bytes to download; undefined if the Hub does not state them. */
  bytes?: number;
  /** Bytes of the weights in memory; undefined if unknown. */
  weightBytes?: number;
  /** Language codes of the model, as far as its README names them. */
  languages?: readonly string[];
  /** Why it cannot be loaded, as a sentence. */
  refusal?: () => string;
  /** Why the hub gave no answer, as a sentence. The model may load all the same. */
  silence?: () => string;
}

/**
 * Asks about `id` (owner/name or owner/name/file.gguf, with or without @revision), whose floats and blocks will be
 * converted to `weights`. If the Hub does not answer, the model's files may still load.
 */
export async function askHubSize(id: string, weights: Quantized, signal: AbortSignal): Promise<HubSize> {
  const request = readHubId(id);
  const answer = await ask(`${apiAddress(request, request.revision)}?blobs=true`, id, signal);
  if ("why" in answer) return answer.isAbsent ? { refusal: answer.why } : { silence: answer.why };
  const { kind, languages } = answer;
  if (kind !== undefined && kind !== "gpt2") {
    return { refusal: () => phrase("otherKind", { name: request.id, kind }) };
  }
  const size = sizeOf(answer, request, weights);
  return languages.length > 0 ? { ...size, languages } : size;
}

/** The size of `file`, or of the files that the page would load. */
function sizeOf(
  { files, floats, ggufWeights }: Answer,
  { file, quantization }: HubRequest,
  weights: Quantized,
): Pick<HubSize, "bytes" | "weightBytes"> {
  if (!files) return {};
  const isGguf = (file ?? quantization) !== undefined;
  const isNamed = (name: string) => (quantization ? isQuantized(name, quantization) : name === file);
  for (const { test, isConverted } of isGguf ? [{ test: isNamed, isConverted: false }] : formats) {
    const found = files.filter((each) => test(each.name));
    if (found.length === 0) continue;
    const bytes = found.reduce((sum, each) => sum + (each.bytes ?? NaN), 0);
    if (!Number.isFinite(bytes)) return {};
    if (isConverted) return { bytes, weightBytes: bytes };
    const count = isGguf ? ggufWeights : floats; // their bytes do not reveal the format: 32 bits, 16 bits or blocks
    return count === undefined ? { bytes } : { bytes, weightBytes: weightBytesOf(count, weights) };
  }
  return {};
}
