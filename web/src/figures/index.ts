/** Figures that show how a model works. They run only in browsers, and use only a model's public API. */
export {
  showInside,
  type HeadAttention,
  type InsideOptions,
  type InsideProgress,
  type InsideToken,
  type InsideView,
} from "./show-inside.js";
export { insideWords, type InsideWords, type PhraseForms } from "./words.js";
export type { HeadPlace } from "./overview.js";
