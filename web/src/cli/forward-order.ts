// Puts converted weights into the order in which the forward pass needs them (weights_tools/FORMAT.md). The converter
// writes them in the order of their arrival.
import { lengthBytes, tensorsOf, type TensorPlace } from "../model/convert/tensor-head.js";

/** TensorSpecs in engine/model/weights.cc has the same list. */
const before = ["wte.weight", "wpe.weight"];
const ofBlock = ["ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj"].flatMap((part) => [
  `${part}.weight`,
  `${part}.bias`,
]);
const after = ["ln_f.weight", "ln_f.bias", "lm_head.weight", "lm_head.bias"];

/** The place of a tensor in the order. The scales of a matrix follow it. */
function placeOf(name: string): number {
  const [, tensor = "", scale] = /^(.*?)(_scale)?$/.exec(name) ?? [];
  const [, layer, part = ""] = /^h\.(\d+)\.(.+)$/.exec(tensor) ?? [];
  const inBlock = before.length + Number(layer ?? 0) * ofBlock.length + ofBlock.indexOf(part);
  const place = before.includes(tensor) ? before.indexOf(tensor) : 1e9 + after.indexOf(tensor);
  return 2 * (layer === undefined ? place : inBlock) + (scale ? 1 : 0);
}

/** The header of the file in order, and the tensors in that order with their places in the file of `head`. */
export function inForwardOrder(head: Uint8Array): { head: Uint8Array; tensors: TensorPlace[] } {
  const tensors = tensorsOf(head).sort((a, b) => placeOf(a.name) - placeOf(b.name));
  const { __metadata__, ...facts } = JSON.parse(
    new TextDecoder().decode(head.subarray(lengthBytes)),
  ) as Record<string, object>;
  let at = 0;
  const ordered = tensors.map(({ name, start, end }) => {
    const data_offsets = [at, (at += end - start)];
    return [name, { ...facts[name], data_offsets }] as const;
  });
  const text = JSON.stringify({ __metadata__, ...Object.fromEntries(ordered) });
  const length = Math.ceil((lengthBytes + text.length) / 8) * 8; // so that the data is aligned
  const made = new TextEncoder().encode(text.padStart(lengthBytes + text.length).padEnd(length));
  new DataView(made.buffer).setBigUint64(0, BigInt(length - lengthBytes), true);
  return { head: made, tensors };
}
