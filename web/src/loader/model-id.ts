// What models are listed by.

/** Of the file `file` of a folder or repository `id`: each GGUF file is a model of its own. */
export function withFile(id: string, file: string | undefined): string {
  if (file === undefined || id.includes(file)) return id;
  return id.endsWith("/") ? id + file : id.replace(/(@[^@]*)?$/, `/${file}$1`);
}

/** Of a model with adapters: "hf:gpt2@main + hf:user/lora@main + 0.5 https://host/lora/"; undefined where one has no id. */
export function withAdapters(
  id: string | undefined,
  adapters: readonly { id: string | undefined; weight: number }[],
): string | undefined {
  const parts = [id, ...adapters.map((one) => one.id && (one.weight === 1 ? "" : `${one.weight} `) + one.id)];
  return parts.includes(undefined) ? undefined : parts.join(" + ");
}

/** Whether `part` is the id of the model that is listed by `id`, or of one of its adapters. */
export const isPartOf = (part: string, id: string): boolean => id.split(" ").includes(part);
