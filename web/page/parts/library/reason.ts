// Why the storage of this device failed, in the words of the page.
import { phrase } from "../../language/texts.js";
import { whyInFull } from "../../language/why.js";

const nameOf = (error: unknown) => (error instanceof DOMException ? error.name : "");

/** Why the store refused, as a clause. */
export function reasonOf(error: unknown): string {
  switch (nameOf(error)) {
    case "QuotaExceededError":
      return phrase("full");
    case "TimeoutError":
      return phrase("slow");
    case "SecurityError":
    case "NotAllowedError":
    case "InvalidStateError": // private windows of older Firefoxes
      return phrase("refused");
    default:
      return whyInFull(error);
  }
}
