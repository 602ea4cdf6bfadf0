// Questions to the model, and questions within a story.
import { expect, it } from "vitest";
import { editor as german } from "../../../web/page/language/de.js";
import { editor as english } from "../../../web/page/language/en.js";
import { isQuestionToModel, questionPattern } from "../../../web/page/parts/notes/question-to-model.js";

const beginnings = questionPattern(`${english.asks}|${german.asks}`);

it.each([
  "What is the capital of France?",
  "Once upon a time. Can you write a poem?",
  "Hello. How do I bake bread?",
  "Please, could you help me?",
  "Wie hoch ist der Eiffelturm?",
  "why is the sky blue？",
])("a question to the model is %j", (text) => {
  expect(isQuestionToModel(text, beginnings)).toBe(true);
});

it.each([
  "",
  "What is the capital of France",
  "“Where are you?",
  'Tom said: "Is it you?',
  "— What is it?",
  "The dog looked at her. Really?",
  "Whatever it was, was it not a dog?",
  `${"How long is a long text, and ".repeat(10)}is it one?`,
  "What is it? The dog",
])("a question to the model is not %j", (text) => {
  expect(isQuestionToModel(text, beginnings)).toBe(false);
});
