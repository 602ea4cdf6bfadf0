// No name of a file leads out of its folder, neither as an address nor as a path on disk.
import { posix, win32 } from "node:path";
import * as fc from "fast-check";
import { fileAddress, problemOfFileName } from "../../../web/src/shared/file-names.mjs";
import { fuzzTarget } from "./target.js";

const folder = "https://hub.example/a/b/resolve/main/";

/** Parts of names that could lead out of a folder. */
const pieces = [
  "..",
  ".",
  "/",
  "\\",
  ":",
  "%2e",
  "%2f",
  "%00",
  "?",
  "#",
  "@",
  " ",
  "\t",
  "\0",
  "\n",
  "https:",
  "C:",
];
const name = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: "binary", maxLength: 4 })), { maxLength: 12 })
  .map((parts) => parts.join(""));

export const target = fuzzTarget({
  arbitrary: name,
  check(input) {
    const problem = problemOfFileName(input);
    let address: string | undefined;
    try {
      address = fileAddress(folder, input);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    if ((address === undefined) !== (problem !== undefined)) throw new Error("name and address disagree");
    if (address === undefined) return;
    const { origin, pathname, search, hash } = new URL(address);
    if (origin !== "https://hub.example" || search !== "" || hash !== "") throw new Error(address);
    const rest = pathname.slice("/a/b/resolve/main/".length);
    if (rest.split("/").map(decodeURIComponent).join("/") !== input)
      throw new Error("another file is asked for");
    for (const system of [posix, win32]) {
      const base = system.resolve("/out");
      const path = system.resolve(base, input);
      if (!path.startsWith(base + system.sep)) throw new Error(`${path} is outside`);
    }
  },
});
