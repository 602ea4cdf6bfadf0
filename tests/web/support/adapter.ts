// LoRA adapters of the tiny models, and models with an adapter merged into them.
import { randomFrom } from "./gguf.js";
import { writeSafetensors, type Tensor } from "./safetensors.js";

export interface AdapterFiles {
  config: Record<string, unknown>;
  tensors: Map<string, Tensor>;
}

const floatsOf = ({ bytes }: Tensor): Float32Array =>
  new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));

const tensorOf = (shape: number[], values: Float32Array): Tensor => ({
  dtype: "F32",
  shape,
  bytes: Buffer.from(values.buffer),
});

export function randomTensor(shape: number[], next: () => number): Tensor {
  const values = new Float32Array(shape.reduce((count, size) => count * size, 1));
  const random = values.map(() => next() - 0.5);
  return tensorOf(shape, random);
}

/** An adapter of rank 2 and alpha 3 for c_attn in each layer of a model with `tensors`. */
export function makeAdapter(tensors: ReadonlyMap<string, Tensor>, seed = 1): AdapterFiles {
  const next = randomFrom(seed);
  const made = new Map<string, Tensor>();
  for (const [name, { shape }] of tensors) {
    if (!name.endsWith("attn.c_attn.weight")) continue;
    const [inputs = 0, outputs = 0] = shape;
    const module = `base_model.model.transformer.${name.replace(/\.weight$/, "")}`;
    made.set(`${module}.lora_A.weight`, randomTensor([2, inputs], next));
    made.set(`${module}.lora_B.weight`, randomTensor([outputs, 2], next));
  }
  const config = { peft_type: "LORA", r: 2, lora_alpha: 3, target_modules: ["c_attn"], fan_in_fan_out: true };
  return { config, tensors: made };
}

/** Both files, by their names. */
export const filesOf = ({ config, tensors }: AdapterFiles): Record<string, Buffer> => ({
  "adapter_config.json": Buffer.from(JSON.stringify(config)),
  "adapter_model.safetensors": writeSafetensors(tensors),
});

/** `tensors` [in, out] with `weight` times the adapter added, each product and each sum rounded to float32. */
export function merge(
  tensors: ReadonlyMap<string, Tensor>,
  adapter: AdapterFiles,
  weight = 1,
): Map<string, Tensor> {
  const scale = Math.fround((weight * 3) / 2);
  const merged = new Map(tensors);
  for (const [name, { shape }] of adapter.tensors) {
    const [, module] = /^base_model\.model\.transformer\.(.+)\.lora_A\.weight$/.exec(name) ?? [];
    const base = tensors.get(`${module}.weight`);
    const a = adapter.tensors.get(name);
    const b = adapter.tensors.get(name.replace("lora_A", "lora_B"));
    if (!base || !a || !b) continue;
    const [rank = 0, inputs = 0] = shape;
    const [outputs = 0] = b.shape;
    const [valuesA, valuesB] = [floatsOf(a), floatsOf(b)];
    const values = floatsOf(base).map((value, at) => {
      const [input, output] = [Math.floor(at / outputs), at % outputs];
      let sum = 0;
      for (let k = 0; k < rank; k += 1) {
        const product = Math.fround((valuesB[output * rank + k] ?? 0) * (valuesA[k * inputs + input] ?? 0));
        sum = Math.fround(sum + product);
      }
      return Math.fround(value + Math.fround(scale * sum));
    });
    merged.set(`${module}.weight`, tensorOf(base.shape, values));
  }
  return merged;
}
