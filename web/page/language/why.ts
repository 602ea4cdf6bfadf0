// Why something failed, in plain words of the page's language. The message itself is for the details.
import { phrase } from "./causes.js";

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Codes of the module's errors whose messages name tensors, fields, bytes or addresses. */
const causes = ["corrupt", "network", "not-found", "out-of-memory", "unsupported", "worker-died"] as const;

/** A clause. Messages that the page, or a check of its arguments, wrote are plain already. */
export function whyOf(error: unknown): string {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  const cause = causes.find((each) => each === code);
  if (cause) return phrase(cause);
  const message = messageOf(error);
  if (typeof code === "string" || name === "Error") return message.replace(/\.$/, "");
  return phrase(/import|module|fetch|load/i.test(message) ? "page" : "unknown");
}

/** The message of `error`, if `whyOf` does not contain it. */
export const detailOf = (error: unknown): string | undefined =>
  error === undefined || whyOf(error) === messageOf(error).replace(/\.$/, "") ? undefined : messageOf(error);

/** The same where there is no room for details. */
export function whyInFull(error: unknown): string {
  const detail = detailOf(error)?.replace(/\.$/, "");
  return whyOf(error) + (detail === undefined ? "" : ` (${detail})`);
}
