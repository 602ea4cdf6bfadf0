// The phrases of the panel of engine and device.
import { device } from "./en.js";
import { phrasesOf, type Phrase } from "./phrases.js";

export const phrase: Phrase<"device"> = phrasesOf("device", device);
