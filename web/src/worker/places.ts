// The places of the forward pass by their names in TransformerLens, and the shapes of their values.
import { describeValue, refuse } from "../shared/refuse.js";
import { distance } from "../shared/suggestions.js";
import type { ModelConfig } from "../shared/types.js";

/** The names in the order of `Place` in engine/model/hooks.h. Those of a layer follow "blocks.3." or "blocks.*.". */
export const placeNames = [
  "embed",
  "pos_embed",
  "resid_pre",
  "ln1.normalized",
  "attn.q",
  "attn.k",
  "attn.v",
  "attn.scores",
  "attn.pattern",
  "attn.z",
  "attn_out",
  "resid_mid",
  "ln2.normalized",
  "mlp.pre",
  "mlp.post",
  "mlp_out",
  "resid_post",
  "ln_final.normalized",
  "logits",
] as const;
export type PlaceName = (typeof placeNames)[number];

/** A place of one layer; layer 0 for those outside the layers. */
export interface At {
  place: PlaceName;
  layer: number;
}

const hasLayer = (place: PlaceName) =>
  !["embed", "pos_embed", "ln_final.normalized", "logits"].includes(place);

export const nameOf = ({ place, layer }: At): string =>
  hasLayer(place) ? `blocks.${layer}.${place}` : place;

export const isAttention = ({ place }: At): boolean => place === "attn.scores" || place === "attn.pattern";

/** The values of one token at a place: `heads` parts of `width`; `heads` is undefined for places without heads. */
export function rowShape({ place }: At, config: ModelConfig): { heads: number | undefined; width: number } {
  switch (place) {
    case "attn.q":
    case "attn.z":
      return { heads: config.nHead, width: config.nEmbd / config.nHead };
    case "attn.k":
    case "attn.v":
      return { heads: config.numKeyValueHeads, width: config.nEmbd / config.nHead };
    case "attn.scores":
    case "attn.pattern":
      return { heads: config.nHead, width: config.nPositions };
    case "mlp.pre":
    case "mlp.post":
      return { heads: undefined, width: config.nInner };
    case "logits":
      return { heads: undefined, width: config.vocabSize };
    default:
      return { heads: undefined, width: config.nEmbd };
  }
}

/**
 * The places that `name` names: one, or with "blocks.*." that of every layer. TransformerLens's "hook_" may be left out. An error
 * has the nearest name.
 */
export function placesNamed(name: unknown, layers: number): At[] {
  if (typeof name !== "string") return refuse(` is ${describeValue(name)}, expected the name of a place`);
  const plain = name.slice(0, 100).replace("hook_", "").replace("attn.attn_scores", "attn.scores");
  const [, block, rest = plain] = /^blocks\.([^.]*)\.(.*)$/.exec(plain) ?? [];
  const isEvery = block === "*";
  const layer = block === undefined || isEvery ? 0 : Number(block);
  if (block === "" || !(Number.isInteger(layer) && layer >= 0 && layer < layers))
    return refuse(
      ` is ${describeValue(name)}, expected a layer from 0 to ${layers - 1}, or * for all layers`,
    );
  const place = placeNames.find((each) => each === rest && hasLayer(each) === (block !== undefined));
  if (place === undefined) {
    const slips = (each: PlaceName) =>
      distance(rest, each) + Number(hasLayer(each) !== (block !== undefined));
    const nearest = placeNames.reduce((best, each) => (slips(each) < slips(best) ? each : best));
    const full = hasLayer(nearest) ? `blocks.${block ?? "*"}.${nearest}` : nearest;
    return refuse(
      ` is ${describeValue(name)}, which is no place of the forward pass: did you mean "${full}"?`,
    );
  }
  return isEvery ? Array.from({ length: layers }, (_, each) => ({ place, layer: each })) : [{ place, layer }];
}
