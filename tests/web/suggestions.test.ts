import { expect, it } from "vitest";
import { generateOptionNames } from "../../web/src/shared/generate-options.js";
import { suggestion } from "../../web/src/shared/suggestions.js";

const generating = [...generateOptionNames, "signal", "onPrompt", "onSummary"];
const loading = ["threads", "signal", "onProgress", "kv", "variant", "headers", "credentials", "fetch"];

it.each<[string, string, string[]?]>([
  ["max_tokens", "maxNewTokens"],
  ["max_new_tokens", "maxNewTokens"],
  ["maxTokens", "maxNewTokens"],
  ["max_length", "maxNewTokens"],
  ["nPredict", "maxNewTokens"],
  ["top_p", "topP"],
  ["top-k", "topK"],
  ["TOPK", "topK"],
  ["repetition_penalty", "repetitionPenalty"],
  ["frequency_penalty", "frequencyPenalty"],
  ["min_tokens", "minNewTokens"],
  ["num_return_sequences", "n"],
  ["stop_sequences", "stop"],
  ["abortSignal", "signal"],
  ["temprature", "temperature"],
  ["seeed", "seed"],
  ["sede", "seed"], // two letters swapped
  ["logProb", "logprobs"],
  ["stopp", "stop"],
  ["progress_callback", "onProgress", loading],
  ["n_threads", "threads", loading],
  ["abort_signal", "signal", loading],
  ["onProgess", "onProgress", loading],
  ["variants", "variant", loading],
])("the option %s gets the suggestion %s", (name, meant, options = generating) => {
  expect(suggestion(name, options)).toBe(`did you mean ${meant}?`);
});

it("an unknown option that no option replaces gets an explanation", () => {
  expect(suggestion("onToken", generating)).toContain("for await");
  expect(suggestion("do_sample", generating)).toContain("temperature 0");
});

const unknown = ["x", "ab", "quality", "device", "", "__proto__", "constructor", "toString"];
it.each(unknown)("the option %j gets no suggestion", (name) => {
  expect(suggestion(name, generating)).toBe("");
});

it("no suggestion names an option of another call", () => {
  for (const name of ["max_tokens", "topP", "seeed", "onToken", "do_sample"])
    expect(suggestion(name, loading)).toBe("");
});
