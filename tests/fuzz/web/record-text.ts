// Texts that a stored record may have: mostly right ones, in which a member is missing or wrong.
import * as fc from "fast-check";
import { bytes, hash, id } from "../../web/support/model-host.js";

const right = [bytes(40, 1), bytes(30, 2)].map(hash);
export const hashes = fc.constantFrom(...right, "0".repeat(64), "xyz");

/** One wrong value in twenty, because parsing stops at the first one. */
const mostly = (rights: readonly unknown[], wrongs: readonly unknown[]) =>
  fc.oneof(
    { weight: 19, arbitrary: fc.constantFrom(...rights) },
    { weight: 1, arbitrary: fc.constantFrom(...wrongs) },
  );
const listed = fc.array(
  fc.record({
    path: mostly(
      ["w.000", "w.001", "config.json", "weights.json", "model.safetensors.000"],
      ["../x", "https://a/b", "", 3],
    ),
    size: mostly([0, 40, 30], [-1, 1.5, 2 ** 53, 1e300]),
    sha256: mostly([...right, "0".repeat(64)], ["xyz", "A".repeat(64)]),
  }),
  { maxLength: 4 },
);
export const recordText = fc
  .record(
    {
      id: mostly([id], ["http://other/", "", 7, null, "__proto__"]),
      weights: mostly([undefined, "q8", "q4", "f32"], ["x", 3, null]),
      version: mostly([undefined, "v"], [3, null]),
      files: fc.oneof({ weight: 19, arbitrary: listed }, fc.constant({})),
      missing: mostly([[], ["config.json"]], [[3], null]),
      pieces: fc.oneof({ weight: 19, arbitrary: listed }, fc.constant("w")),
      weightBytes: mostly([undefined, 0, 10, 1e12], [-1, "x", null]),
      loading: mostly([undefined, true], [false, null]),
      sha256: mostly([undefined], ["0".repeat(64), 3, null]),
    },
    { requiredKeys: ["id", "files", "missing", "pieces"] },
  )
  .map((value) => JSON.stringify(value));
