// The two fields of what the model sees, from a link or from storage, which anyone may have written.
import { asLines } from "../document/pieces.js";
import { fieldsOf, mostLetters, type ContextFields } from "../state/context-fields.js";

const isField = (value: unknown): value is string => typeof value === "string" && value.length <= mostLetters;

/** Whether `value` is nothing, or has both fields, neither of which is too long. */
export function areFields(value: unknown): boolean {
  if (value === undefined) return true;
  const { remember, note } = Object(value) as Record<string, unknown>;
  return isField(remember) && isField(note);
}

/** undefined where `value` is something else, or nothing is written in either. */
export function parseFields(value: unknown): ContextFields | undefined {
  const { remember, note } = Object(value) as Record<string, unknown>;
  return isField(remember) && isField(note) ? fieldsOf(asLines(remember), asLines(note)) : undefined;
}
