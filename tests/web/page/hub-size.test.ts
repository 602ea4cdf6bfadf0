// How the page reads the Hub's answers about the size of a model.
import { expect, it, vi } from "vitest";
import { weightBytesOf } from "../../../web/page/models/estimate.js";
import { askHubSize } from "../../../web/page/models/hub-size.js";

const parameters = 124_439_808;

/** The size of `id` if the hub answers `body`. chooser.spec.ts tests a hub that fails. */
function ask(id: string, body: unknown, weights: "q8" | "q4" = "q8", status = 200) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(text, { status })));
  return askHubSize(id, weights, new AbortController().signal);
}

const file = (rfilename: string, size?: number) => ({ rfilename, size });

it("the download size of a converted model is the sum of its pieces", async () => {
  const name = "model.safetensors";
  const siblings = [file(name, 500), file(`${name}.000`, 7), file(`${name}.001`, 5)];
  expect(await ask("user/tale", { siblings })).toEqual({ bytes: 12, weightBytes: 12 });
});

it("the memory of a float model follows its number of weights, if the hub states it", async () => {
  const siblings = [file("model.safetensors", 250e6)];
  const safetensors = { total: parameters };
  for (const weights of ["q8", "q4"] as const) {
    const weightBytes = weightBytesOf(parameters, weights);
    expect(await ask("user/tale", { siblings, safetensors }, weights)).toEqual({ bytes: 250e6, weightBytes });
  }
  expect(await ask("user/tale", { siblings })).toEqual({ bytes: 250e6 }); // of 16 bits each, or of 32?
});

it("the memory of a GGUF model follows its number of weights", async () => {
  const siblings = [file("a.F16.gguf", 250e6), file("a.Q8_0.gguf", 130e6)];
  const weightBytes = weightBytesOf(parameters, "q8");
  const gguf = { total: parameters };
  expect(await ask("user/tale/a.F16.gguf", { siblings, gguf })).toEqual({ bytes: 250e6, weightBytes });
  expect(await ask("user/tale/a.Q8_0.gguf@main", { siblings, gguf })).toEqual({ bytes: 130e6, weightBytes });
  expect(await ask("user/tale/a.Q8_0.gguf", { siblings })).toEqual({ bytes: 130e6 });
});

it("the languages of a model are those in its README", async () => {
  const siblings = [file("model.safetensors.000", 7)];
  const ofCard = async (cardData: unknown) =>
    (await ask("user/tale", { siblings, cardData })) as { languages?: string[] };
  expect((await ofCard({ language: "de" })).languages).toEqual(["de"]);
  expect((await ofCard({ language: ["en", "code", 7, "de"] })).languages).toEqual(["en", "de"]);
  for (const none of [undefined, null, {}, { language: null }, { language: "multilingual" }])
    expect(await ofCard(none)).toEqual({ bytes: 7, weightBytes: 7 });
});

it.each([
  ["null", null],
  ["files that are null", { siblings: null }],
  ["a size that is missing", { siblings: [file("model.safetensors")] }],
  ["a size that is text", { siblings: [{ rfilename: "model.safetensors", size: "12" }] }],
  ["a model without weights", { siblings: [null, file("README.md", 1)] }],
  ["another file", { siblings: [file("b.gguf", 1)] }, "user/tale/a.gguf"],
])("the download size of %s is unknown", async (_, body, id = "user/tale") => {
  expect(await ask(id, body)).toEqual({});
});

it.each([401, 403, 404])("the answer %d means that there is no such public model", async (status) => {
  const { refusal } = await ask("user/none", "", "q8", status);
  expect(refusal?.()).toBe("huggingface.co has no public model user/none: check the name.");
});

it("a model of another kind is refused with a message", async () => {
  const { refusal } = await ask("user/tale", { config: { model_type: "llama" } });
  expect(refusal?.()).toBe("user/tale is a “llama” model; this page runs only GPT-2.");
});
