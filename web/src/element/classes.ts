/** The classes of the elements: importing this defines no element. `define(name, Class)` does, under a name of your own. */
export { Gpt2Autocomplete } from "./autocomplete.js";
export type { Gpt2Accept, Gpt2Done, Gpt2EventMap, Gpt2Failure } from "./events.js";
export { define } from "./html-element.js";
export type { SuggestionField } from "./suggestion-field.js";
export { setWords } from "./words.js";
export type { Words } from "./words.js";
export { Gpt2Writer } from "./writer.js";
