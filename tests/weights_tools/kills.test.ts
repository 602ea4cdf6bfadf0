// A short form of `npm run kills`.
import { expect, it } from "vitest";
import { killAtRandom } from "./kills.mjs";

it(
  "convert, killed at random moments, leaves the old model or the new one at OUT, complete",
  { timeout: 300_000 },
  async () => {
    const kills = Number(process.env.GPT2_KILLS ?? 20);
    const found = await killAtRandom(kills);
    expect(found.old + found.new + found.nothing).toBe(kills);
    expect(found.killed).toBeGreaterThan(kills / 4);
  },
);
