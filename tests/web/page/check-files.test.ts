// The errors for files that are no model, before the current model is replaced.
import { expect, it } from "vitest";
import { checkFiles } from "../../../web/page/models/check-files.js";

const gpt2 = JSON.stringify({ model_type: "gpt2" });
const filesOf = (contents: Readonly<Record<string, string>>) =>
  Object.entries(contents).map(([name, text]) => new File([text], name));
const check = (contents: Readonly<Record<string, string>>) => checkFiles(filesOf(contents));

it.each([
  { "config.json": gpt2, "model.safetensors": "" },
  { "config.json": gpt2, "weights.json": "", "model.safetensors.000": "" },
  { "config.json": "{}", "model-00001-of-00002.safetensors": "" },
  { "config.json": gpt2, "pytorch_model.bin": "" },
  { "config.json": gpt2, "tf_model.h5": "" }, // the error during loading says what to do
  { "tale.gguf": "GGUF and more" },
  { "config.json": "no JSON", "tale.GGUF": "GGUF" },
])("the files of a model may be loaded: %j", async (contents) => {
  await expect(check(contents)).resolves.toBeUndefined();
});

it.each([
  [{ "a.gguf": "GGUF", "b.gguf": "GGUF" }, "there are 2 GGUF files (a.gguf, b.gguf), expected one"],
  [{ "config.json": "<html>", "model.safetensors": "" }, "config.json cannot be read"],
  [{ "config.json": "[]", "model.safetensors": "" }, "config.json cannot be read"],
  [{ "config.json": '{"model_type":"llama"}', "model.safetensors": "" }, "to a “llama” model"],
  [{ "config.json": gpt2, "vocab.json": "{}" }, "there are no weights beside config.json"],
])("files that are no model are refused: %j", async (contents, sentence) => {
  await expect(check(contents)).rejects.toThrow(sentence);
});
