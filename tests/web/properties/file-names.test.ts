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
    const { origin, pathname, search, hash } = new URL(fileAddress(folder, name));
    expect({ origin, search, hash }).toEqual({ origin: "https://hub.example", search: "", hash: "" });
    const rest = pathname.slice("/a/b/resolve/main/".length);
    expect(rest.split("/").map(decodeURIComponent).join("/")).toBe(name);
    for (const system of [posix, win32]) {
      const base = system.resolve("/out");
      expect(system.resolve(base, name).startsWith(base + system.sep)).toBe(true);
    }
  },
);
