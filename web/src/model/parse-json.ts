// JSON of a model's files.
import { LoadError } from "../shared/errors.js";
import { describeValue } from "../shared/refuse.js";

/** Parses the JSON in the file `name`. */
export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const end = text.trim();
    const isCut = /^[[{]/.test(end) && !/[\]}]$/.test(end);
    const begins = `it begins with ${describeValue(text)} (${String(error)})`;
    const found =
      end === "" ? "it is empty" : isCut ? `it is cut off after ${text.length} characters` : begins;
    throw new LoadError("corrupt", `${name} is not valid JSON: ${found.replace(/\s+/g, " ")}`);
  }
}
