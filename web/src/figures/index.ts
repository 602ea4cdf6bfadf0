/** Figures that show how a model works. They run only in browsers, and use only a model's public API. */
export { showInside } from "./show-inside.js";
export type {
  HeadAttention,
  HeadPlace,
  InsideOptions,
  InsideProgress,
  InsideToken,
  InsideView,
} from "./types.js";
export { insideWords, type InsideWords, type PhraseForms } from "./words.js";
