// JSON of a model's files.
import { LoadError } from "../shared/errors.js";

/** The value in the file `name`. */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new LoadError("corrupt", `${name} is not valid JSON: ${String(error)}`);
  }
}
