// Parses the two fields of *What the model sees* from a link, a file or storage, none of which is trusted.
import { asLines } from "./pieces.js";
import { fieldsOf, mostUnits, type ContextFields } from "../state/context-fields.js";

const isField = (value: unknown): value is string => typeof value === "string" && value.length <= mostUnits;

/** Whether `value` is undefined, or has both fields and neither is too long. */
export function areFields(value: unknown): boolean {
  if (value === undefined) return true;
  const { remember, note } = Object(value) as Record<string, unknown>;
  return isField(remember) && isField(note);
}

/** Returns undefined if `value` is invalid, or if both fields are empty. */
export function parseFields(value: unknown): ContextFields | undefined {
  const { remember, note } = Object(value) as Record<string, unknown>;
  return isField(remember) && isField(note) ? fieldsOf(asLines(remember), asLines(note)) : undefined;
}
