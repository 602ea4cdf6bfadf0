/** GPT-2 that runs entirely in the browser. */
export { explainEnvironment } from "./on-demand.js";
export type {
  Capability,
  Environment,
  Explanation,
  MemoryCapability,
  StorageCapability,
} from "./environment.js";
export type { Attribution, HeadScores, Neighbour, PatchMap } from "./causes.js";
export { isolate, type IsolateOptions } from "./isolate.js";
export { loadModel, type AdapterSource, type LoadOptions, type ModelSource } from "./load-model.js";
export { keepModel, listModels, removeModel, storage } from "./on-demand.js";
export {
  Model,
  type CallOptions,
  type FillCall,
  type GenerateCall,
  type InspectOptions,
  type PatchOptions,
  type AttributeOptions,
  type PrefillOptions,
  type ScoreOptions,
  type TokenizeOptions,
} from "./model.js";
export { CapacityError, Gpt2Error, InvalidArgumentError, LoadError, WorkerError } from "../shared/errors.js";
export type { KvFormat, WeightFormat } from "../shared/formats.js";
export type {
  Captured,
  Change,
  Completion,
  Continuation,
  FinishReason,
  GenerateOptions,
  GenerateSummary,
  GenerationDefaults,
  Inspection,
  LoadProgress,
  ModelConfig,
  ModelInfo,
  Prefilled,
  Prompt,
  PromptProgress,
  Score,
  ScoredToken,
  ScoreProgress,
  StorageInfo,
  StoredModel,
  Timings,
  Token,
  TokenIds,
  TokenizedText,
  TokenLogprob,
  Variant,
} from "../shared/types.js";
