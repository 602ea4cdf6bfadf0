// The ids by which models are listed.

/** The id of the file `file` in a folder or repository `id`: each GGUF file is a separate model. */
export function withFile(id: string, file: string | undefined): string {
  if (file === undefined || id.includes(file)) return id;
  return id.endsWith("/") ? id + file : id.replace(/(@[^@]*)?$/, `/${file}$1`);
}

/**
 * The id of a model with adapters: "hf:gpt2@main + hf:user/lora@main + 0.5 https://host/lora/"; undefined if one has no
 * id.
 */
export function withAdapters(
  id: string | undefined,
  adapters: readonly { id: string | undefined; weight: number }[],
): string | undefined {
  const parts = [id, ...adapters.map((one) => one.id && (one.weight === 1 ? "" : `${one.weight} `) + one.id)];
  return parts.includes(undefined) ? undefined : parts.join(" + ");
}

/** Whether `part` is the id of the model in `id`, or of one of its adapters. */
export const isPartOf = (part: string, id: string): boolean => id.split(" ").includes(part);
