/** `<gpt2-writer>` and `<gpt2-autocomplete>`: importing this defines them. On a server it does nothing. */
import { Gpt2Autocomplete } from "./autocomplete.js";
import { define } from "./html-element.js";
import { setWords } from "./words.js";
import { Gpt2Writer } from "./writer.js";

define("gpt2-writer", Gpt2Writer);
define("gpt2-autocomplete", Gpt2Autocomplete);

export { Gpt2Autocomplete, Gpt2Writer, setWords };
export type { Words } from "./words.js";
export type { SuggestionField } from "./suggestion-field.js";
export type { Gpt2Accept, Gpt2Done, Gpt2EventMap, Gpt2Failure } from "./events.js";
