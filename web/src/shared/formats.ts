// The formats of weights and of the KV cache. The engine has the same ones: engine/model/weight_format.h.

/** Formats of converted models. In memory, f16 is f32. */
export const storedFormats = ["q8", "q4", "f16", "f32"] as const;
export type StoredFormat = (typeof storedFormats)[number];

/** Formats in which the engine computes with weights, and to which floats are converted while they arrive. */
export const weightFormats = ["q8", "q4", "f32"] as const;
/** A format in which the engine computes with weights. */
export type WeightFormat = (typeof weightFormats)[number];

/** Bytes of a weight in memory: its code, 2 bytes of scale for each 32 of them, and in 8 bits 2 for their sum. */
export const bytesPerWeight = { q8: 36 / 32, q4: 18 / 32 };
export type Quantized = keyof typeof bytesPerWeight;

/** Formats of the KV cache. */
export const kvFormats = ["q8", "f32"] as const;
/** A format of the KV cache. */
export type KvFormat = (typeof kvFormats)[number];
