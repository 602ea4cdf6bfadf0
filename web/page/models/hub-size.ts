// How much a model of the hub is to download, before anything is.
import { phrase } from "../language/models.js";

/** As huggingface.co/docs/hub/api has it; anything may be missing. */
interface Answer {
  config?: { model_type?: string };
  siblings?: { rfilename: string; size?: number }[];
  /** What its safetensors files hold. */
  safetensors?: { total?: number };
}

/** The larger of these formats is of no use where there is the smaller. */
const formats: readonly RegExp[] = [
  /^model\.safetensors\.\d+$/, // converted already
  /^model\.safetensors$/,
  /^model-\d+-of-\d+\.safetensors$/,
];

export interface HubSize {
  /** Of the weights; undefined where the hub does not tell. */
  bytes?: number;
  /** Numbers of its weights, where they are floats; undefined where they are converted already, or nobody says. */
  parameters?: number;
  /** Why it cannot be loaded, as a sentence. */
  refusal?: string;
}

/** What the hub tells of `id`, as owner/name, owner/name/file.gguf, with @revision or without. */
export async function askHubSize(id: string, signal: AbortSignal): Promise<HubSize> {
  const [path = "", revision = "main"] = id.split("@");
  const [owner, name, ...rest] = path.split("/");
  const file = rest.join("/");
  const model = name === undefined ? owner : `${owner}/${name}`;
  const url = `https://huggingface.co/api/models/${model}/revision/${encodeURIComponent(revision)}?blobs=true`;
  const response = await fetch(url, { signal });
  if (!response.ok) return {}; // loading it says why
  const { config, siblings = [], safetensors } = (await response.json()) as Answer;
  const type = config?.model_type;
  if (type !== undefined && type !== "gpt2") {
    return { refusal: phrase("otherKind", { name: model ?? "", kind: type }) };
  }
  for (const format of file ? [{ test: (other: string) => other === file }] : formats) {
    const found = siblings.filter(({ rfilename }) => format.test(rfilename));
    const sizes = found.map(({ size }) => size ?? NaN);
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    if (found.length === 0) continue;
    if (!Number.isFinite(bytes)) return {};
    const isFloats = !file && format !== formats[0];
    return isFloats ? { bytes, parameters: safetensors?.total ?? bytes / 4 } : { bytes };
  }
  return {};
}
