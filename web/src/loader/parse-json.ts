// JSON of a model's files.
import { LoadError } from "../shared/errors.js";
import { describeValue } from "../shared/refuse.js";

/** Parses the JSON in the file `name`. */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const found =
      text.trim() === "" ? "it is empty" : `it begins with ${describeValue(text)} (${String(error)})`;
    throw new LoadError("corrupt", `${name} is not valid JSON: ${found.replace(/\s+/g, " ")}`);
  }
}
