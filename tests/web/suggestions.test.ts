import { expect, it } from "vitest";
import { generateOptionNames } from "../../web/src/client/arguments.js";
import { suggestion } from "../../web/src/shared/suggestions.js";

const generating = [...generateOptionNames, "signal", "onPrompt", "onSummary"];
const loading = ["threads", "signal", "onProgress", "kv", "variant", "headers", "credentials", "fetch"];

it.each([
  ["max_tokens", "maxNewTokens"],
  ["max_new_tokens", "maxNewTokens"],
  ["maxTokens", "maxNewTokens"],
  ["max_length", "maxNewTokens"],
  ["nPredict", "maxNewTokens"],
  ["top_p", "topP"],
  ["top-k", "topK"],
  ["TOPK", "topK"],
  ["repetition_penalty", "repetitionPenalty"],
  ["frequency_penalty", "repetitionPenalty"],
  ["num_return_sequences", "n"],
  ["stop_sequences", "stop"],
  ["abortSignal", "signal"],
  ["temprature", "temperature"],
  ["seeed", "seed"],
  ["sede", "seed"], // two letters swapped
  ["logProb", "logprobs"],
  ["stopp", "stop"],
])("the option %s of generate gets the suggestion %s", (name, meant) => {
  expect(suggestion(name, generating)).toBe(`did you mean ${meant}?`);
});

it.each([
  ["progress_callback", "onProgress"],
  ["n_threads", "threads"],
  ["abort_signal", "signal"],
  ["onProgess", "onProgress"],
  ["variants", "variant"],
])("the option %s of loadModel gets the suggestion %s", (name, meant) => {
  expect(suggestion(name, loading)).toBe(`did you mean ${meant}?`);
});

it("an unknown option that no option replaces gets an explanation", () => {
  expect(suggestion("onToken", generating)).toContain("for await");
  expect(suggestion("do_sample", generating)).toContain("temperature 0");
});

it.each(["x", "ab", "quality", "device", "", "__proto__", "constructor", "toString"])(
  "the unknown option %s gets no suggestion",
  (name) => {
    expect(suggestion(name, generating)).toBe("");
  },
);

it("no suggestion names an option of another call", () => {
  for (const name of ["max_tokens", "topP", "seeed", "onToken", "do_sample"])
    expect(suggestion(name, loading)).toBe("");
});
