// The sentences of the panel "Engine and device".
import { expect, it } from "vitest";
import {
  networkSentence,
  storageSentence,
  threadsSentence,
} from "../../../../web/page/parts/device/sentences.js";

it("the sentence about threads says what limits them", () => {
  const has = { has: true, reason: "", remedy: null };
  const facts = {
    info: { threads: 2, variant: "threads-relaxed", notice: null },
    environment: { threads: has },
    cores: 8 as number | undefined,
    isForced: false,
  } as const;
  const one = { threads: 1, variant: "simd", notice: null } as const;
  const none = { threads: { has: false, reason: "The host sends no headers.", remedy: null } };
  const lost = { ...facts.info, notice: "A thread was lost." };
  const sentence = (change: Partial<Parameters<typeof threadsSentence>[0]>) =>
    threadsSentence({ ...facts, ...change });
  expect(sentence({})).toContain("2 of 8 cores: more were not faster");
  expect(sentence({ cores: 2 })).toBe("2 of 2 cores: all that are available.");
  expect(sentence({ isForced: true })).toContain("as set in the address of this page");
  expect(sentence({ cores: undefined })).toBe("2: all that are available.");
  expect(sentence({ info: one, environment: none })).toBe("1. The host sends no headers.");
  expect(sentence({ info: one })).toContain("has no threads");
  expect(sentence({ info: lost })).toBe("2 of 8 cores. A thread was lost.");
});

it.each([
  [{ network: 13e6, cache: 0 }, [], "13 MB came from example.org for this model."],
  [
    { network: 0, cache: 13e6 },
    ["huggingface.co"],
    "This model was stored on this device: nothing was fetched for it. Other hosts that were contacted: huggingface.co.",
  ],
  [{ network: 0, cache: 0 }, [], "Nothing was fetched for this model."],
])("the sentence about the network says that nothing is sent: %j", (traffic, others, rest) => {
  const said = networkSentence(traffic, "example.org", others);
  expect(said).toBe(`None: nothing that you write leaves this device. ${rest}`);
});

it("the sentence about the storage names what is stored, or says why nothing is", () => {
  const info = {
    kind: "opfs",
    modelBytes: 132e6,
    quota: 10e9,
    usage: 150e6,
    persisted: false,
    notice: null,
  } as const;
  const models = [{ id: "https://example.org/models/gpt2-q8/", bytes: 132e6 }];
  expect(storageSentence(info, models)).toBe(
    "Stored: 132 MB (gpt2-q8, 132 MB). This site uses 150 MB of the 10.0 GB that the browser allows.",
  );
  expect(storageSentence({ ...info, persisted: true, usage: null }, [])).toBe(
    "No models are stored except this page's own. The browser keeps it until you remove it.",
  );
  expect(storageSentence({ ...info, notice: "this window is private" }, [])).toBe(
    "No models are stored: this window is private.",
  );
});
