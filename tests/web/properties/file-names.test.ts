// No name of a file leads out of its folder, neither as an address nor as a path on disk.
import { posix, win32 } from "node:path";
import { expect } from "vitest";
import { fileAddress, problemOfFileName } from "../../../web/src/shared/file-names.mjs";
import { textOf } from "./any-text.js";
import { property } from "./property.js";

const folder = "https://hub.example/a/b/resolve/main/";
const pieces = [..."..|.|/|\\|:|%2e|%2f|%00|?|#|@|https:|C:|a".split("|"), " ", "\t", "\0", "\n"];

property(
  "a name of a file has a problem, or an address and a path inside its folder",
  textOf(pieces),
  (name) => {
    if (problemOfFileName(name) !== undefined) {
      expect(() => fileAddress(folder, name)).toThrow(RangeError);
      return;
    }
    expect(decodeURIComponent(new URL(fileAddress(folder, name)).href)).toBe(folder + name);
    for (const system of [posix, win32]) {
      const base = system.resolve("/out");
      expect(system.resolve(base, name).startsWith(base + system.sep)).toBe(true);
    }
  },
);
