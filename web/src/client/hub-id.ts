// Ids of models on the Hub, as callers write them.
import { hubHosts, usualHub, type HubRequest } from "../shared/protocol.js";
import { problemOfFileName } from "../shared/file-names.mjs";
import { readFolder } from "./folder-address.js";
import { refuse, describeValue } from "../shared/refuse.js";

/** `owner/name` as the Hub allows it. The oldest models have no owner. */
const part = String.raw`[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9_])?`;
const idPattern = new RegExp(
  `^(?<id>(?:${part}/)?${part})(?:/(?<file>[^@\\s]+\\.gguf)|:(?<quantization>[\\w.-]+))?(?:@(?<revision>[^@\\s]+))?$`,
  "i",
);
/** The form that could also be a relative address: not a file, and no deeper folder. */
const plainPattern = new RegExp(`^${part}/${part}(?::[\\w.-]+)?(?:@[^@\\s]+)?$`);

/** Whether `host` is the Hub, or its short name. */
export const isHub = (host: string): boolean => new RegExp(`^${hubHosts}$`).test(host);

/**
 * The id of the model whose page or file on the Hub has the address `url`, as people copy it from there. Undefined for other
 * addresses, and for addresses with escaped characters.
 */
export function idAtHub({ host, pathname }: URL): string | undefined {
  const [, id, revision = "main", file = ""] =
    /^\/([^/%]+(?:\/[^/%]+)?)(?:\/(?:tree|blob|resolve|raw)\/([^/%]+)(\/[^%]+)?)?\/*$/.exec(pathname) ?? [];
  if (!id || !isHub(host)) return undefined;
  return id + (/\.gguf$/i.test(file) ? file : "") + (revision === "main" ? "" : `@${revision}`);
}

/** Whether `text` could be an id, although it is not marked as one. */
export const isPlainId = (text: string) => plainPattern.test(text) && !text.endsWith(".gguf");

/** Whether readHubId accepts `text`. */
export function isHubId(text: string): boolean {
  try {
    readHubId(text);
    return true;
  } catch {
    return false;
  }
}

/** The model with the id `text`, with or without "hf:", on the hub at `hub`. */
export function readHubId(text: string, hub: unknown = usualHub): HubRequest {
  const base = readFolder("hub", hub);
  const {
    id,
    file,
    quantization,
    revision = "main",
  } = idPattern.exec(text.replace(/^hf:/i, ""))?.groups ?? {};
  if (id === undefined) {
    return refuse(
      `the model's id is ${describeValue(text)}, expected owner/name, owner/name@revision, owner/name/file.gguf or owner/name:Q8_0, as openai-community/gpt2`,
    );
  }
  for (const name of [file, revision]) {
    const problem = name === undefined ? undefined : problemOfFileName(name);
    if (problem !== undefined)
      refuse(
        `the model's id is ${describeValue(text)}, and ${describeValue(name)} in it is wrong: ${problem}`,
      );
  }
  return {
    kind: "hub",
    hub: base,
    id,
    revision,
    ...(file !== undefined && { file }),
    ...(quantization !== undefined && { quantization }),
  };
}
