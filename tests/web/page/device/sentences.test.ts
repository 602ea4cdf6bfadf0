// The sentences of the panel "Engine and device".
import { describe, expect, it } from "vitest";
import {
  networkSentence,
  storageSentence,
  threadsSentence,
} from "../../../../web/page/parts/device/sentences.js";

describe("the sentence about threads", () => {
  const has = { has: true, reason: "", remedy: null };
  const facts = {
    info: { threads: 2, variant: "threads-relaxed", notice: null },
    environment: { threads: has },
    cores: 8 as number | undefined,
    isForced: false,
  } as const;

  it("the sentence about threads says what limits them", () => {
    expect(threadsSentence(facts)).toContain("2 of 8 cores: more were not faster");
    expect(threadsSentence({ ...facts, cores: 2 })).toBe("2 of 2 cores: all that are available.");
    expect(threadsSentence({ ...facts, isForced: true })).toContain("as set in the address of this page");
    expect(threadsSentence({ ...facts, cores: undefined })).toBe("2: all that are available.");
    const none = { threads: { has: false, reason: "The host sends no headers.", remedy: null } };
    const one = { threads: 1, variant: "simd", notice: null } as const;
    expect(threadsSentence({ ...facts, info: one, environment: none })).toBe("1. The host sends no headers.");
    expect(threadsSentence({ ...facts, info: one })).toContain("has no threads");
    const lost = { ...facts.info, notice: "A thread was lost." };
    expect(threadsSentence({ ...facts, info: lost })).toBe("2 of 8 cores. A thread was lost.");
  });
});

describe("the network", () => {
  it("without network use the sentence about the network says so, whatever came before", () => {
    const none = "None: nothing that you write leaves this device. ";
    expect(networkSentence({ network: 13e6, cache: 0 }, "example.org", [])).toBe(
      `${none}13 MB came from example.org for this model.`,
    );
    expect(networkSentence({ network: 0, cache: 13e6 }, "example.org", ["huggingface.co"])).toBe(
      `${none}This model was stored on this device: nothing was fetched for it. Other hosts that were contacted: huggingface.co.`,
    );
    expect(networkSentence({ network: 0, cache: 0 }, "", [])).toBe(
      `${none}Nothing was fetched for this model.`,
    );
  });
});

describe("the storage", () => {
  const info = {
    kind: "opfs",
    modelBytes: 132e6,
    usage: 150e6,
    quota: 10e9,
    persisted: false,
    notice: null,
  } as const;

  it("the sentence about the storage names what is stored, or says why nothing is", () => {
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
});
