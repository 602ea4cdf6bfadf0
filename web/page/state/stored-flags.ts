// Yes-or-no settings and notes already shown, stored for later visits.
import { readStored, writeStored } from "./storage.js";

/** The key has the path, because other pages of the host share the storage. */
const keyOf = (name: string) => `gpt2-${name} ${location.pathname}`;

/** Flags that could not be stored: they last for this visit. */
const unstored = new Set<string>();

export const hasFlag = (name: string): boolean =>
  unstored.has(name) || readStored("localStorage", keyOf(name)) !== undefined;

export function storeFlag(name: string, isChosen = true): void {
  const isStored = writeStored("localStorage", keyOf(name), isChosen ? "1" : undefined);
  if (isChosen && !isStored) unstored.add(name);
  else unstored.delete(name);
}
