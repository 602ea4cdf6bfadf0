import { InvalidArgumentError } from "../client/index.js";

/** As in shared/refuse.ts, but with the class of gpt2.js: the elements' bundle has no second one. */
export function refuse(message: string): never {
  throw new InvalidArgumentError("invalid-argument", message);
}
