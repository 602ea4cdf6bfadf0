/** `<gpt2-writer>` and `<gpt2-autocomplete>`: importing this defines them. On a server it does nothing. */
import "../client/index.js"; // fetched in parallel with the classes that need it
import { define, Gpt2Autocomplete, Gpt2Writer } from "./classes.js";

define("gpt2-writer", Gpt2Writer);
define("gpt2-autocomplete", Gpt2Autocomplete);

export * from "./classes.js";
