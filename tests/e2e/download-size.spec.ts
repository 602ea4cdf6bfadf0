// What a visitor downloads before any weights. It is measured here, where the build always comes first.
import { expect, test } from "@playwright/test";
import { downloadBytes } from "../../web/scripts/download-size.mjs";

// A twentieth of the smallest peer's (`npm run bench:peers`) and 11 kB more, for exceptions.
for (const variant of ["simd", "simd-relaxed", "threads", "threads-relaxed"]) {
  test(`${variant} and what loads it are at most 130 kB of gzip`, () => {
    expect(downloadBytes(variant)).toBeLessThan(130_000);
  });
}
