// @vitest-environment happy-dom
// <gpt2-autocomplete> with a scripted model; tests/e2e/element.spec.ts tests it in a browser.
import { beforeEach, describe, expect, it, vi } from "vitest";
import { eventsOf, load, model, mount, options, progress } from "./support/scripted-element.js";

const { Gpt2Autocomplete } = await import("../../web/src/element/autocomplete.js");
customElements.define("gpt2-autocomplete", Gpt2Autocomplete);
const execCommand = vi.fn(() => false);
Object.assign(document, { execCommand });

const warnings = () => vi.mocked(console.warn).mock.calls.map(([text]) => String(text));
beforeEach(() => {
  for (const name of ["warn", "error"] as const) vi.spyOn(console, name).mockImplementation(() => {});
  execCommand.mockReset().mockReturnValue(false);
  vi.useFakeTimers();
});

function make(attributes: Record<string, string> = {}, kind: "textarea" | "input" = "textarea") {
  const field = document.createElement(kind);
  field.id = "field";
  document.body.append(field);
  const { find, ...made } = mount("gpt2-autocomplete", { for: "field", model: "m/", ...attributes });
  return { ...made, field, ghost: find(".ghost") as HTMLElement, spoken: find("[aria-live]") as Element };
}

/** The user writes `text` where the caret is, at the end. */
function type(field: HTMLTextAreaElement | HTMLInputElement, text: string) {
  field.value += text;
  field.setSelectionRange(field.value.length, field.value.length);
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}
async function propose(field: HTMLTextAreaElement | HTMLInputElement, texts: string[], typed = "I went") {
  model.texts = texts;
  field.focus();
  type(field, typed);
  await vi.advanceTimersByTimeAsync(400);
}
/** An element that suggests " to bed" after "I went". */
async function makeSuggesting(...of: Parameters<typeof make>) {
  const made = make(...of);
  await propose(made.field, [" to bed"]);
  return made;
}
function press(field: Element, key: string, more: KeyboardEventInit = {}) {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });
  const above = eventsOf(document.body, "keydown");
  field.dispatchEvent(event);
  return { isTaken: event.defaultPrevented, isSeenAbove: above.length > 0 };
}

describe("a suggestion", () => {
  it("a suggestion appears after a pause in typing, and is announced to screen readers", async () => {
    const { field, element, ghost, spoken } = make({ "top-k": "3" });
    const onSummary = vi.fn();
    element.options = { topP: 0.5, minP: undefined, n: 2, onSummary };
    const events = eventsOf(element, "gpt2-token", "gpt2-done");
    model.continuations = 2; // the first one is the suggestion
    model.texts = [" to", " by", " bed ", " train"];
    field.focus();
    type(field, "I went");
    await vi.advanceTimersByTimeAsync(300);
    type(field, " home");
    await vi.advanceTimersByTimeAsync(399);
    expect(model.calls).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ghost.textContent).toBe(" to bed");
    expect(spoken.textContent).toBe("Suggestion: to bed. Tab takes it, Escape dismisses it.");
    expect(field.value).toBe("I went home");
    expect(model.calls).toHaveLength(1);
    const { prompt, call } = model.calls[0] ?? {};
    expect(prompt).toBe("I went home");
    expect(call).toMatchObject({ maxNewTokens: 12, temperature: 0, stop: "\n", topK: 3, topP: 0.5 });
    expect(call).not.toHaveProperty("minP");
    expect(call).not.toHaveProperty("seed");
    expect(events.map((event) => event.type)).toEqual([...Array(4).fill("gpt2-token"), "gpt2-done"]);
    expect(events[4]?.detail).toEqual({ text: " to bed", summary: { finishReason: "length" } });
    expect(onSummary).toHaveBeenCalledWith({ finishReason: "length" });
  });

  it("a signal in the options cancels a suggestion silently", async () => {
    const { field, element, ghost, done, errors } = make();
    const own = new AbortController();
    element.options = { signal: own.signal };
    model.waits = true;
    await propose(field, [" to"]);
    expect(model.calls[0]?.call.signal?.aborted).toBe(false);
    own.abort();
    await vi.advanceTimersByTimeAsync(0);
    expect(model.calls[0]?.call.signal?.aborted).toBe(true);
    expect([ghost.textContent, done, errors]).toEqual(["", [], []]);
  });

  it("options and words that a framework sets to undefined or null count as not set", async () => {
    const { field, element, ghost } = make();
    for (const none of [undefined, null]) {
      Object.assign(element, { options: none, loadOptions: none, words: none });
      await propose(field, [" to"], "a");
      expect(ghost.textContent).toBe(" to");
    }
  });

  it("a suggestion is announced in the surrounding language, with the element's words or its hint", async () => {
    const { field, element, spoken } = make({ lang: "de", delay: "50" });
    const announced = async () => {
      press(field, "Escape");
      model.texts = [" to bed."];
      field.focus();
      type(field, "!");
      await vi.advanceTimersByTimeAsync(50);
      return spoken.textContent;
    };
    expect(await announced()).toBe("Vorschlag: to bed. Tab übernimmt ihn, Escape verwirft ihn.");
    element.words = { suggestion: "{text} ({hint})", hint: "Tab" };
    expect(await announced()).toBe("to bed (Tab)");
    element.setAttribute("hint", "Tab!");
    expect(await announced()).toBe("to bed (Tab!)");
  });

  it("a suggestion completes a word or continues after a space by healing", async () => {
    const { field, ghost } = make();
    await propose(field, ["the", " end"], "At ");
    expect(model.calls[0]).toMatchObject({ prompt: "At ", call: { heal: true } });
    expect(ghost.textContent).toBe("the end");
  });

  it.each<[name: string, options: object, reasons: string[], passes: string[], shown: string, calls: number]>(
    [
      ["goes on after spaces", {}, [], [" ", " ", "to bed"], "  to bed", 3],
      ["goes on at most twice", {}, [], [" ", " ", " ", "to bed"], "", 3],
      [
        "is drawn again where the model ended",
        { temperature: 1 },
        ["stop", "eos"],
        ["", " ", " to"],
        " to",
        3,
      ],
      ["goes on after spaces that follow an end", { temperature: 1 }, ["stop"], [" ", " ", "to"], " to", 3],
      ["is not drawn again where the most probable text ends", {}, ["stop"], ["", " to"], "", 1],
      ["is not drawn again with the same seed", { temperature: 1, seed: 5 }, ["eos"], ["", " to"], "", 1],
    ],
  )("a suggestion without a word %s", async (_, own, reasons, [first = "", ...later], shown, calls) => {
    const { field, element, ghost, done } = make();
    element.options = own;
    Object.assign(model, { reasons, later: later.map((text) => [text]) });
    await propose(field, [first]);
    expect([ghost.textContent, model.calls.length]).toEqual([shown, calls]);
    expect(done).toHaveLength(shown === "" ? 0 : 1); // what is not shown fires no event
  });

  it("a suggestion takes the end of a long text into account", async () => {
    const { field } = make();
    await propose(field, ["x"], `${"a".repeat(2999)}b`);
    expect(model.calls[0]?.prompt).toBe(`${"a".repeat(1999)}b`);
    field.value = "";
    await propose(field, ["x"], `${"a".repeat(499)}\u{1f600}${"a".repeat(1500)}`);
    expect(model.calls[1]?.prompt).toBe("a".repeat(1500)); // not half of the face
  });

  it("each prompt in a long text continues the one before, so that the cache holds its beginning", async () => {
    const { field } = make();
    await propose(field, ["x"], "word ".repeat(1000));
    for (let count = 0; count < 99; ++count) await propose(field, ["x"], "go on");
    const prompts = model.calls.map(({ prompt }) => prompt);
    expect(prompts).toHaveLength(100);
    expect(Math.max(...prompts.map(({ length }) => length))).toBeLessThanOrEqual(2000);
    expect(Math.min(...prompts.map(({ length }) => length))).toBeGreaterThanOrEqual(1499);
    const anew = prompts.filter((prompt, index) => !prompt.startsWith(prompts[index - 1] ?? ""));
    expect(anew).toHaveLength(1);
  });

  it("there is no suggestion within a text, a selection, an empty field or a field that accepts no typing", async () => {
    const { field, ghost } = make();
    field.focus();
    const quiet: [typed: string, change: () => unknown][] = [
      ["  \n", () => undefined],
      ["word", () => field.setSelectionRange(2, 2)],
      ["word", () => field.setSelectionRange(2, field.value.length)],
      ["word", () => (field.readOnly = true)],
      ["word", () => Object.assign(field, { readOnly: false, disabled: true })],
    ];
    for (const [typed, change] of quiet) {
      type(field, typed);
      change();
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(model.calls).toEqual([]);
    expect(ghost.textContent).toBe("");
  });

  it("a suggestion that is no longer awaited is not shown", async () => {
    const { field, ghost, done, errors } = make();
    await propose(field, ["a"], "first");
    model.waits = true;
    type(field, "!");
    await vi.advanceTimersByTimeAsync(400);
    expect(model.calls).toHaveLength(2);
    field.value = "another"; // by a script, without an event
    model.waits = false;
    type(field, "?");
    expect(model.calls[1]?.call.signal?.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(ghost.textContent).toBe("");
    expect([done.length, errors.length]).toEqual([1, 0]);
  });

  it("a suggestion is not shown if a script has changed the text", async () => {
    const { field, ghost } = make();
    load.mockImplementation(async () => {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      return model;
    });
    await propose(field, ["a"], "first");
    field.value = "another";
    await vi.advanceTimersByTimeAsync(1000);
    expect(model.calls).toHaveLength(1);
    expect(ghost.textContent).toBe("");
  });
});

describe("while a suggestion is shown", () => {
  it("typing the suggested text keeps its rest; typing another text removes it", async () => {
    const { field, ghost, spoken } = await makeSuggesting();
    const said = spoken.textContent;
    type(field, " to");
    expect(ghost.textContent).toBe(" bed");
    expect(spoken.textContent).toBe(said);
    await vi.advanceTimersByTimeAsync(1000);
    expect(model.calls).toHaveLength(1);
    type(field, " bed");
    expect(ghost.textContent).toBe("");
    await vi.advanceTimersByTimeAsync(400);
    expect(model.calls).toHaveLength(2);
    expect(ghost.textContent).toBe(" to bed");
    type(field, "!");
    expect([ghost.textContent, spoken.textContent]).toEqual(["", ""]);
  });

  it("Tab inserts the suggestion as if it had been typed", async () => {
    const { field, ghost, accepted } = await makeSuggesting();
    const inputs = eventsOf(document.body, "input") as unknown as InputEvent[];
    expect(press(field, "Tab")).toEqual({ isTaken: true, isSeenAbove: false });
    expect(execCommand).toHaveBeenCalledWith("insertText", false, " to bed");
    expect(field.value).toBe("I went to bed");
    expect(field.selectionStart).toBe(13);
    expect(inputs.map(({ data, inputType, composed }) => [data, inputType, composed])).toEqual([
      [" to bed", "insertText", true],
    ]);
    expect(accepted).toEqual([{ text: " to bed" }]);
    expect(ghost.textContent).toBe("");
    expect(press(field, "Tab")).toEqual({ isTaken: false, isSeenAbove: true });
  });

  it("a suggestion that the browser inserts itself, as an undoable edit, is not inserted again", async () => {
    const { field } = await makeSuggesting();
    execCommand.mockReturnValue(true);
    press(field, "Tab");
    expect(field.value).toBe("I went");
  });

  it.each([{ ctrlKey: true }, { altKey: true }])("%j and the right arrow take one word", async (keys) => {
    const { field, ghost } = await makeSuggesting();
    expect(press(field, "ArrowRight", keys).isTaken).toBe(true);
    expect(field.value).toBe("I went to");
    expect(ghost.textContent).toBe(" bed");
  });

  it("Escape dismisses the suggestion, and a dialog around the field stays open", async () => {
    const { field, ghost, spoken } = await makeSuggesting();
    expect(press(field, "Escape")).toEqual({ isTaken: true, isSeenAbove: false });
    expect([ghost.textContent, spoken.textContent, field.value]).toEqual(["", "", "I went"]);
    expect(press(field, "Escape")).toEqual({ isTaken: false, isSeenAbove: true });
  });

  it.each([
    ["Tab", { shiftKey: true }],
    ["Tab", { ctrlKey: true }],
    ["Tab", { altKey: true }],
    ["Tab", { metaKey: true }],
    ["Escape", { shiftKey: true }],
    ["ArrowRight", {}],
    ["ArrowRight", { ctrlKey: true, altKey: true }],
    ["ArrowRight", { ctrlKey: true, shiftKey: true }],
    ["ArrowRight", { ctrlKey: true, metaKey: true }],
    ["ArrowLeft", { ctrlKey: true }],
    ["a", {}],
    ["Tab", { isComposing: true }],
  ])("%s with %j keeps its meaning for the page", async (key, keys) => {
    const { field, ghost } = await makeSuggesting();
    expect(press(field, key, keys)).toEqual({ isTaken: false, isSeenAbove: true });
    expect(ghost.textContent).toBe(" to bed");
  });

  it("a suggestion disappears when the caret moves, and when the field loses the focus", async () => {
    const { field, ghost } = await makeSuggesting();
    await vi.advanceTimersByTimeAsync(100);
    expect(ghost.textContent).toBe(" to bed");
    field.setSelectionRange(1, 1);
    await vi.advanceTimersByTimeAsync(100);
    expect(ghost.textContent).toBe("");
    await propose(field, [" to bed"], "!");
    expect(ghost.textContent).toBe(" to bed");
    field.blur();
    expect(ghost.textContent).toBe("");
    type(field, "x");
    await vi.advanceTimersByTimeAsync(1000);
    expect(model.calls).toHaveLength(2);
  });

  it.each([
    ["input methods show what they will replace", false, "ñ", 1],
    ["keyboards on touch screens compose each word as it is meant", true, "ñ", 2],
    ["keyboards on touch screens compose Hangul as it is meant", true, "한", 2],
    ["Pinyin after Chinese text will be replaced", true, "我xihuan", 1],
    ["Pinyin in syllables will be replaced", true, "ni\u2006hao", 1],
    ["kana will be replaced", true, "にほん", 1],
  ])(
    "a composition keeps a suggestion until it changes the text: %s",
    async (_, matches, composed, calls) => {
      vi.stubGlobal("matchMedia", () => ({ matches }));
      const { field, ghost } = await makeSuggesting();
      field.dispatchEvent(new CompositionEvent("compositionstart"));
      type(field, ""); // marks the word
      expect(ghost.textContent).toBe(" to bed");
      expect(press(field, "Tab").isTaken).toBe(false); // the input method's
      type(field, composed);
      expect(ghost.textContent).toBe("");
      await vi.advanceTimersByTimeAsync(1000);
      expect(model.calls).toHaveLength(calls);
      field.dispatchEvent(new CompositionEvent("compositionend"));
      await vi.advanceTimersByTimeAsync(400);
      expect(model.calls).toHaveLength(2);
      expect(press(field, "Tab").isTaken).toBe(true);
    },
  );
});

describe("a suggestion that no longer fits", () => {
  it.each([
    ["its text was replaced by a script", (field: HTMLInputElement) => void (field.value = "")],
    ["the field became read-only", (field: HTMLInputElement) => void (field.readOnly = true)],
    ["the field was disabled", (field: HTMLInputElement) => void (field.disabled = true)],
    [
      "its fieldset was disabled", // which happy-dom's `matches` ignores
      (field: HTMLInputElement) =>
        void vi.spyOn(field, "matches").mockImplementation((selector) => selector === ":disabled"),
    ],
    ["the field became one for passwords", (field: HTMLInputElement) => void (field.type = "password")],
    ["the caret was moved", (field: HTMLInputElement) => field.setSelectionRange(0, 0)],
  ])("a suggestion that no longer fits is neither inserted nor shown: %s", async (_, change) => {
    for (const key of ["Tab", "ArrowRight", undefined]) {
      document.body.replaceChildren();
      const { field, ghost, accepted } = make({}, "input");
      await propose(field, [" to bed"]);
      expect(ghost.textContent).toBe(" to bed");
      change(field as HTMLInputElement);
      const { value } = field;
      if (key) expect(press(field, key, { ctrlKey: key !== "Tab" }).isTaken).toBe(false);
      else await vi.advanceTimersByTimeAsync(50); // the next frame
      expect(field.value).toBe(value);
      expect(ghost.textContent).toBe("");
      expect(accepted).toEqual([]);
    }
  });

  it("a suggestion disappears with its field, and works again when the field is back", async () => {
    const { field, ghost } = await makeSuggesting();
    field.remove();
    await vi.advanceTimersByTimeAsync(50); // the next frame
    expect(ghost.textContent).toBe("");
    document.body.append(field);
    await propose(field, [" to bed"]);
    expect(ghost.textContent).toBe(" to bed");
  });

  it("a suggestion is cut to the room in the field, and the event reports what was inserted", async () => {
    const { field, ghost, accepted } = make();
    field.maxLength = 11;
    await propose(field, [" to 😀 bed"]);
    expect(ghost.textContent).toBe(" to "); // not half of the face
    press(field, "Tab");
    expect(field.value).toBe("I went to ");
    expect(accepted).toEqual([{ text: " to " }]);
    type(field, "x");
    await vi.advanceTimersByTimeAsync(1000);
    expect(model.calls).toHaveLength(1); // the field is full
    expect(press(field, "Tab").isTaken).toBe(false);
  });

  it.each([
    [3, " a"], // of "e" and its accent, both or neither
    [4, " ae\u0301"],
    [8, " ae\u0301"], // an astronaut is one character of five units
    [9, " ae\u0301\ud83d\udc69\u200d\ud83d\ude80"],
  ])("a suggestion with room for %i units is cut to %j", async (room, expected) => {
    const { field, ghost } = make();
    field.maxLength = 6 + room;
    await propose(field, [" ae\u0301\ud83d\udc69\u200d\ud83d\ude80 bed"]);
    expect(ghost.textContent).toBe(expected);
  });
});

describe("a field that gets no suggestions", () => {
  const secret = /^gpt2-autocomplete: there are no suggestions in <input id="field">: it may hold a secret$/;
  const noText = /no suggestions in <input id="field">: expected a <textarea>, or an <input> of type text/;
  const editor = /no suggestions in <div id="field">: .*for an editor, set the property "field"/;
  it.each<[string, object, RegExp, boolean?]>([
    ["one for passwords", { type: "password" }, secret],
    ["one for the current password", { autocomplete: "current-password" }, secret],
    ["one for a new password", { autocomplete: "section-a new-password" }, secret],
    ["one for a code", { autocomplete: "one-time-code" }, secret],
    ["one for a card", { autocomplete: "billing CC-NUMBER" }, secret],
    ["for addresses", { type: "email" }, noText],
    ["another one", { id: "other" }, /"for" is "field", but no element has this id/],
    ["an editor", { contentEditable: "true", tabIndex: "0" }, editor],
    ["within an editor", { contentEditable: "true", tabIndex: "0" }, editor, true],
  ])("a field that is %s gets no suggestions", async (_, attributes, message, isInside) => {
    const { field } = make({}, "input");
    let target: HTMLElement = field;
    if ("contentEditable" in attributes) {
      const around = Object.assign(document.createElement("div"), { id: "field" });
      target = isInside ? around.appendChild(document.createElement("div")) : around;
      field.replaceWith(around);
    }
    for (const [name, value] of Object.entries(attributes)) target.setAttribute(name, value as string);
    for (let i = 0; i < 3; ++i) {
      target.focus();
      if (message === secret) await propose(field, ["x"]);
      target.blur();
      if (field.type === "password") field.setAttribute("type", "text"); // as a button does that shows the password
    }
    expect(warnings()).toEqual([expect.stringMatching(message)]);
    expect(load).not.toHaveBeenCalled();
  });

  it("without the attribute for, an element says that it needs the id of a field", () => {
    const { field, element } = make();
    element.removeAttribute("for");
    field.focus();
    expect(warnings()).toEqual([
      expect.stringMatching(/expected the attribute "for" with the id of a field/),
    ]);
  });

  it.each<unknown>([{}, 5, { element: document.body }, { element: "#editor", textBefore: String }])(
    "the field %j is refused with a message in the console",
    (wrong) => {
      const { field, element } = make();
      Object.assign(element, { field: wrong });
      field.focus();
      expect(warnings()).toEqual([
        expect.stringMatching(/"field" to have element, textBefore, insert and caret/),
      ]);
    },
  );
});

describe("an editor of the page", () => {
  it("an editor of the page gets suggestions through the property `field`", async () => {
    const { element, ghost, accepted } = make();
    const editor = document.createElement("div");
    const line = document.createElement("p");
    editor.append(line);
    line.tabIndex = 0;
    document.body.append(editor);
    let text: string | undefined = "I went";
    const caret = () => new DOMRect(10, 20, 0, 16);
    const insert = (more: string) => ((text += more), more);
    element.field = { element: editor, textBefore: () => text, insert, caret };
    const keys: string[] = [];
    line.addEventListener("keydown", ({ key }) => keys.push(key));
    model.texts = [" to bed"];
    line.focus();
    line.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await vi.advanceTimersByTimeAsync(400);
    expect(ghost.textContent).toBe(" to bed");
    expect(press(line, "Tab").isTaken).toBe(true);
    expect(keys).toEqual([]); // taken before the editor's own handlers
    expect(text).toBe("I went to bed");
    expect(accepted).toHaveLength(1);
    text = "I went\u00a0to\u00a0"; // spaces in an editor of the browser
    line.dispatchEvent(new InputEvent("input", { bubbles: true }));
    expect(ghost.textContent).toBe("bed");
    text = "Sue\u00a0took\u00a0";
    line.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await vi.advanceTimersByTimeAsync(400);
    expect(model.calls[1]?.prompt).toBe("Sue took ");
    model.texts = [" bed"];
    text = undefined;
    line.dispatchEvent(new InputEvent("input", { bubbles: true }));
    await vi.advanceTimersByTimeAsync(1000);
    expect(model.calls).toHaveLength(2);
  });
});

describe("the field and the model of a suggestion element", () => {
  it("a model that cannot be loaded causes one error, until the field gets the focus again", async () => {
    const { field, errors } = make();
    load.mockRejectedValue(new Error("404"));
    await propose(field, []);
    for (const letter of "abc") {
      type(field, letter);
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect([errors.length, load.mock.calls.length]).toEqual([1, 1]);
    field.blur();
    load.mockImplementation(async () => model);
    await propose(field, [" to bed"]);
    expect(model.calls).toHaveLength(1);
  });

  it("the model loads when the field first gets the focus, and another one when an attribute changes it", async () => {
    const { field, element } = make({ kv: "q8" });
    element.loadOptions = { headers: { a: "b" } };
    const events = eventsOf(element, "gpt2-progress");
    expect(load).not.toHaveBeenCalled();
    field.focus();
    expect(load).toHaveBeenCalledWith("m/", expect.objectContaining({ kv: "q8", headers: { a: "b" } }));
    progress({ stage: "ready" });
    expect(events[0]?.detail).toMatchObject({ stage: "ready" });
    field.blur();
    field.focus();
    expect(load).toHaveBeenCalledTimes(1);
    element.setAttribute("model", "n/");
    expect(load.mock.lastCall?.[0]).toBe("n/");
    await vi.advanceTimersByTimeAsync(0);
    expect(model.dispose).toHaveBeenCalledTimes(1);
    element.setAttribute("disabled", "");
    expect(load).toHaveBeenCalledTimes(2);
    element.setAttribute("model", "o/");
    await vi.advanceTimersByTimeAsync(0);
    expect(model.dispose).toHaveBeenCalledTimes(2);
    element.removeAttribute("disabled");
    expect(load.mock.lastCall?.[0]).toBe("o/");
  });

  it("a suggestion element does not change when the same field gets the focus again or an attribute gets its old value", async () => {
    const { field, element, ghost } = await makeSuggesting({ kv: "q8" });
    field.dispatchEvent(new FocusEvent("focusin", { bubbles: true }));
    element.setAttribute("kv", "q8");
    expect(ghost.textContent).toBe(" to bed");
    expect(load).toHaveBeenCalledTimes(1);
    const removed = vi.spyOn(field, "addEventListener");
    element.setAttribute("for", "another");
    element.setAttribute("for", "field");
    const signals = removed.mock.calls.map(([, , how]) => (how as AddEventListenerOptions).signal?.aborted);
    expect(signals.length).toBeGreaterThan(3);
    expect(new Set(signals)).toEqual(new Set([false]));
    field.blur();
    const after = removed.mock.calls.map(([, , how]) => (how as AddEventListenerOptions).signal?.aborted);
    expect(new Set(after)).toEqual(new Set([true])); // the element leaves no attribute at the site's field
  });

  it("properties that were set before the element was defined are kept", () => {
    const early = document.createElement("gpt2-early");
    Object.assign(early, { options: { topK: 1 }, loadOptions: { kv: "q8" }, for: "f", maxNewTokens: 3 });
    document.body.append(early);
    customElements.define("gpt2-early", class extends Gpt2Autocomplete {});
    const upgraded = document.querySelector<InstanceType<typeof Gpt2Autocomplete>>("gpt2-early");
    expect(upgraded?.options).toEqual({ topK: 1 });
    expect(upgraded?.loadOptions).toEqual({ kv: "q8" });
    Object.assign(early, { disabled: false, delay: 5 }); // as Vue, Svelte and Solid do
    expect(early.outerHTML).toBe('<gpt2-early max-new-tokens="3" for="f" delay="5"></gpt2-early>');
  });

  it("a suggestion element suggests nothing while it is disabled, or in another field", async () => {
    const { field, element } = make({ disabled: "" });
    await propose(field, ["x"]);
    element.removeAttribute("disabled");
    expect(load).toHaveBeenCalledTimes(1);
    element.setAttribute("for", "another");
    type(field, "!");
    await vi.advanceTimersByTimeAsync(1000);
    expect(model.calls).toEqual([]);
    const other = document.createElement("input");
    other.id = "another";
    document.body.append(other);
    await propose(other, ["x"]);
    expect(model.calls).toHaveLength(1);
    const button = document.createElement("button");
    button.id = "another";
    document.body.append(button);
    button.focus();
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("a suggestion element keeps its suggestion when moved with its field, and searches another tree for its field", async () => {
    const { element, ghost } = await makeSuggesting();
    element.connectedMoveCallback();
    expect(ghost.textContent).toBe(" to bed");
    const host = document.createElement("div");
    document.body.append(host);
    vi.spyOn(element, "getRootNode").mockReturnValue(host.attachShadow({ mode: "open" }));
    element.connectedMoveCallback();
    expect(ghost.textContent).toBe("");
  });

  it("the second element for one field reports that it suggests nothing", async () => {
    const { field, element, ghost } = make();
    const other = document.createElement("gpt2-autocomplete");
    for (const name of ["for", "model"]) other.setAttribute(name, element.getAttribute(name) ?? "");
    document.body.append(other);
    await propose(field, [" to bed"]);
    expect(ghost.textContent).toBe(" to bed");
    expect(other.shadowRoot?.querySelector(".ghost")?.textContent).toBe("");
    expect(warnings()).toEqual([
      "gpt2-autocomplete: another <gpt2-autocomplete> suggests in the same field: remove one of them",
    ]);
    element.remove();
    field.blur();
    field.focus();
    await propose(field, [" at"], "!");
    expect(other.shadowRoot?.querySelector(".ghost")?.textContent).toBe(" at");
  });

  it("a suggestion element finds a field that already has the focus, and releases it when removed", async () => {
    const { field, element, ghost } = make();
    element.remove();
    field.focus();
    expect(load).not.toHaveBeenCalled();
    element.loadOptions = { headers: { a: "b" } };
    document.body.append(element);
    expect(load).toHaveBeenCalledTimes(1);
    expect(options().headers).toEqual({ a: "b" });
    await propose(field, [" to bed"]);
    element.remove();
    expect(ghost.textContent).toBe("");
    field.blur();
    field.focus();
    await vi.advanceTimersByTimeAsync(5000);
    expect(model.dispose).toHaveBeenCalledTimes(1);
    expect(load).toHaveBeenCalledTimes(1);
    document.body.append(element);
    await vi.advanceTimersByTimeAsync(5000);
    expect(load).toHaveBeenCalledTimes(2);
    expect(model.dispose).toHaveBeenCalledTimes(1);
  });

  it("text that was typed before the element came, or before another model, gets a suggestion", async () => {
    const { field, element, ghost } = make();
    element.remove();
    await propose(field, [" to bed"]);
    document.body.append(element);
    await vi.advanceTimersByTimeAsync(400);
    expect(ghost.textContent).toBe(" to bed");
    element.setAttribute("model", "n/");
    expect(ghost.textContent).toBe("");
    await vi.advanceTimersByTimeAsync(400);
    expect(ghost.textContent).toBe(" to bed");
  });

  it("an error fires an event, and is logged unless the page handles it", async () => {
    const { field, element, errors } = make();
    const error = new RangeError("the worker died");
    model.texts = [error];
    field.focus();
    type(field, "a");
    await vi.advanceTimersByTimeAsync(400);
    expect(errors).toEqual([{ error }]);
    expect(console.error).toHaveBeenCalledWith(error);
    element.addEventListener("gpt2-error", (event) => event.preventDefault());
    type(field, "b");
    await vi.advanceTimersByTimeAsync(400);
    expect(errors).toHaveLength(2);
    expect(console.error).toHaveBeenCalledTimes(1);
    expect(load).toHaveBeenCalledTimes(2); // again, because the model does not survive such an error
    field.blur();
    load.mockRejectedValue(new RangeError("404"));
    element.setAttribute("kv", "f32");
    field.focus();
    await vi.advanceTimersByTimeAsync(0);
    expect(errors).toHaveLength(3);
    element.setAttribute("kv", "f16");
    element.remove();
    await vi.advanceTimersByTimeAsync(0);
    expect(errors).toHaveLength(3);
  });
});
