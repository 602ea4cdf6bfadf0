// What was typed before the text could be stored. A page that closes leaves it to the next one.
import { path, readStored, writeStored } from "../state/storage.js";

const key = `gpt2-typed ${path}`;

/** undefined removes it: this page has it, and stores it. */
export const keepTyped = (text?: string): boolean => writeStored("localStorage", key, text);

export const readTyped = (): string | undefined => readStored("localStorage", key);
