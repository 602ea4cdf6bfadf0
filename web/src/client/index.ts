/** GPT-2 that runs wholly in the browser. */
export { loadModel, Model, type GenerateCall, type LoadOptions } from "./model.js";
export { CapacityError, Gpt2Error, InvalidArgumentError, LoadError, WorkerError } from "../shared/errors.js";
export type {
  Completion,
  Continuation,
  FinishReason,
  GenerateOptions,
  GenerateSummary,
  LoadProgress,
  ModelConfig,
  ModelInfo,
  PromptProgress,
  Score,
  Timings,
  Token,
  TokenLogprob,
  Variant,
} from "../shared/types.js";
