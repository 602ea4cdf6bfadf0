// What links to a text carry, and what strangers may put there.
import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { fromFragment, toFragment } from "../../../web/page/share/passage.js";

const pack = (value: unknown) => deflateRawSync(JSON.stringify(value)).toString("base64url");
const hash = "0".repeat(64);

describe("a link's fragment", () => {
  it("carries all of a passage", async () => {
    const options = { maxNewTokens: 7, temperature: 0.5, seed: 3, ignoreEos: true, stop: ["\n", "🍓"] };
    const passage = { prompt: "Tom said “hello”, and 🍓\n", options, hash };
    const fragment = await toFragment(passage);
    expect(fragment).toMatch(/^[\w-]+$/);
    expect(await fromFragment(fragment)).toEqual(passage);
  });

  it("takes no option but those of a text, of their types", async () => {
    const options = {
      constructor: 1,
      toString: 2,
      strict: true,
      seed: "1",
      ignoreEos: 1,
      stop: ["a", 2],
      topK: 5,
    };
    const found = await fromFragment(pack({ prompt: "", options, hash }));
    expect(Object.entries(found.options)).toEqual([["topK", 5]]);
  });

  it("ends lines as the editor does", async () => {
    expect((await fromFragment(pack({ prompt: "a\r\nb\rc\n", options: {}, hash }))).prompt).toBe("a\nb\nc\n");
  });

  it("is refused where it unpacks to more than a text", async () => {
    const bomb = pack({ prompt: "a".repeat(5_000_000), options: {}, hash });
    expect(bomb.length).toBeLessThan(100_000);
    await expect(fromFragment(bomb)).rejects.toThrow("expected a text of at most 1.0 MB, found more");
  });

  it("is refused where it is none", async () => {
    await expect(fromFragment("nothing")).rejects.toThrow();
    await expect(fromFragment(pack(null))).rejects.toThrow("expected a prompt, options and a hash");
    await expect(fromFragment(pack({ prompt: "a", options: {} }))).rejects.toThrow("expected a prompt");
  });
});
