// node main.js FOLDER-OR-URL: OpenAI's client, the AI SDK and LangChain write with one model, without a server.
import { createOpenAI } from "@ai-sdk/openai";
import { OpenAI as LangChain } from "@langchain/openai";
import { streamText } from "ai";
import { loadModel } from "gpt2-wasm";
import { completionsFetch } from "gpt2-wasm/openai";
import OpenAI from "openai";

const model = await loadModel(process.argv[2]);
const prompt = "Once upon a time";
/** The model answers every request: the key is never sent, and no host is contacted. */
const settings = { apiKey: "none", baseURL: "https://gpt2.invalid/v1", fetch: completionsFetch(model) };

const client = new OpenAI({ ...settings, dangerouslyAllowBrowser: true });
const stream = await client.completions.create({
  ...{ model: "gpt2", prompt, max_tokens: 24, temperature: 0 },
  stream: true,
});
let text = "";
for await (const { choices } of stream) text += choices[0]?.text ?? "";
console.log(JSON.stringify(text));

// The AI SDK puts the prompt into a dialogue, "user: … assistant:", before it sends it.
const sdk = createOpenAI(settings).completion("gpt2");
const result = streamText({ model: sdk, prompt, maxOutputTokens: 24, temperature: 0 });
console.log(JSON.stringify(await result.text));

const { apiKey, baseURL, fetch } = settings;
const chain = new LangChain({
  ...{ apiKey, model: "gpt-3.5-turbo-instruct", maxTokens: 24, temperature: 0 },
  configuration: { baseURL, fetch },
});
console.log(JSON.stringify(await chain.invoke(prompt)));
