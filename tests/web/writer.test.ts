// @vitest-environment happy-dom
// <gpt2-writer> with a scripted model; tests/e2e/element.spec.ts tests it in a browser with a real one.
import { describe, expect, it, vi } from "vitest";
import { FakeObserver, internalsOf } from "./support/element-page.js";
import {
  eventsOf,
  load,
  loadUntilAborted,
  model,
  mount,
  options,
  progress,
  type ScriptedModel,
} from "./support/scripted-element.js";

const { Gpt2Writer } = await import("../../web/src/element/writer.js");
customElements.define("gpt2-writer", Gpt2Writer);

type Writer = InstanceType<typeof Gpt2Writer>;

function make(attributes: Record<string, string> = {}) {
  const { element: writer, find, ...reports } = mount("gpt2-writer", { model: "m/", ...attributes });
  return {
    ...reports,
    writer,
    text: find("[part=text]") as HTMLTextAreaElement,
    button: find("[part=button]") as HTMLButtonElement,
    status: find("[part=status]") as Element,
    bar: find("[part=progress]") as HTMLProgressElement,
    pace: find(".pace") as Element,
    written: find("[aria-live]") as Element,
  };
}
/** Lets the writer start a text that ends only when it is stopped. */
async function startWriting({ writer, status }: ReturnType<typeof make>): Promise<{ ended: Promise<void> }> {
  model.waits = true;
  const ended = writer.write();
  await vi.waitFor(() => expect(status.textContent).toBe("Writing…"));
  return { ended };
}
const nextTask = () => new Promise((resolve) => setTimeout(resolve));

describe("writing", () => {
  it("a writer continues the text, fires its events, and ends with the result", async () => {
    model.texts = [" upon", " a time"];
    model.continuations = 2;
    const { writer, text, button, status, written } = make({
      prompt: "Once",
      loading: "use",
      "max-new-tokens": "9",
    });
    const events = eventsOf(writer, "gpt2-token", "gpt2-done");
    const changes = eventsOf(writer, "change");
    const bound: string[] = [];
    writer.addEventListener("input", () => {
      bound.push(writer.value);
      writer.value = writer.value.slice(); // as frameworks do
    });
    const onSummary = vi.fn();
    writer.options = { temperature: 0.5, onSummary };
    written.textContent = "before";
    const shown = () => ({
      value: writer.value,
      isLocked: text.readOnly,
      busy: text.getAttribute("aria-busy"),
      texts: [button, status, written].map(({ textContent }) => textContent),
    });
    const done = writer.write();
    expect(shown()).toMatchObject({ isLocked: true, busy: "true", texts: ["Stop", expect.anything(), ""] });
    await done;
    const texts = ["Write", "", " upon"];
    expect(shown()).toEqual({ value: "Once upon", isLocked: false, busy: "false", texts });
    expect(bound).toEqual(["Once upon"]);
    expect(changes).toHaveLength(1);
    expect(model.calls).toEqual([
      { prompt: "Once", call: expect.objectContaining({ maxNewTokens: 9, temperature: 0.5 }) as unknown },
    ]);
    expect(
      events.map(({ type, bubbles, composed, cancelable }) => [type, bubbles, composed, cancelable]),
    ).toEqual([
      ["gpt2-token", true, true, false],
      ["gpt2-token", true, true, false],
      ["gpt2-done", true, true, false],
    ]);
    const summary = { finishReason: "length" };
    expect(events.at(-1)?.detail).toEqual({ text: " upon", summary });
    expect(onSummary).toHaveBeenCalledWith(summary);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it("a writer shows the load, then only that it writes, and its button stops it", async () => {
    const { writer, button, status, done, errors } = make({ prompt: "A", loading: "use" });
    let isLoaded = (_: ScriptedModel) => {};
    load.mockReturnValue(new Promise((resolve) => (isLoaded = resolve)));
    model.texts = [" b"];
    model.waits = true;
    button.click();
    progress({ loadedBytes: 1, totalBytes: 10e6 });
    expect(status.textContent).toBe("Loading the model, 10 MB");
    isLoaded(model);
    await vi.waitFor(() => expect(writer.value).toBe("A b"));
    progress({ stage: "ready", loadedBytes: 1, totalBytes: 1 });
    expect(status.textContent).toBe("Writing…");
    void writer.write(); // is under way
    button.click();
    await vi.waitFor(() => expect(status.textContent).toBe("Stopped."));
    expect([done, errors]).toEqual([[{ text: " b", summary: null }], []]);
    expect(model.calls).toHaveLength(1);
    expect(button.textContent).toBe("Write");
  });

  it("a listener to the end of a text can start the next one", async () => {
    const { writer, button } = make({ loading: "use" });
    writer.addEventListener("gpt2-done", () => void writer.write(), { once: true });
    await writer.write();
    expect(button.textContent).toBe("Stop");
    await vi.waitFor(() => expect(button.textContent).toBe("Write"));
    expect(model.calls).toHaveLength(2);
  });

  it.each([
    ["another value", (writer: Writer) => void (writer.value = "Now"), "Now then"],
    ["stop", (writer: Writer) => writer.stop(), "Once upon then"],
    ["a reset", (writer: Writer) => writer.formResetCallback(), "Once then"],
    ["another model", (writer: Writer) => void (writer.model = "n/"), "Once upon then"],
  ])("write continues the text at once after %s has stopped the writing", async (_, end, expected) => {
    const { writer, button, done } = make({ loading: "use", prompt: "Once" });

    model.texts = [" upon"];
    model.waits = true;
    const stopped = writer.write();
    await vi.waitFor(() => expect(writer.value).toBe("Once upon"));
    end(writer);
    model.texts = [" then"];
    model.waits = false;
    await Promise.all([writer.write(), writer.write()]); // the second finds the first one writing
    await stopped;
    expect(writer.value).toBe(expected);
    expect(done).toEqual([
      { text: " upon", summary: null },
      { text: " then", summary: { finishReason: "length" } },
    ]);
    expect(button.textContent).toBe("Write");
  });

  it("a stop also cancels a call of write that waits for the end of the writing before", async () => {
    const made = make({ loading: "use" });
    const { writer } = made;
    await startWriting(made);
    writer.stop();
    const waiting = writer.write();
    writer.stop();
    await waiting;
    expect(model.calls).toHaveLength(1);
  });

  it("a signal in the options stops the writing", async () => {
    const made = make({ loading: "use" });
    const { writer, status, done, errors } = made;
    const own = new AbortController();
    writer.options = { signal: own.signal };
    const { ended } = await startWriting(made);
    own.abort();
    await ended;
    await writer.write(); // the signal stays aborted
    expect([done.length, errors.length]).toEqual([2, 0]);
    expect([status.textContent, writer.value]).toEqual(["Stopped.", ""]);
  });

  it("a text that fails midway is announced, and reported as a change before the error", async () => {
    const { writer, written } = make({ loading: "use" });
    const events = eventsOf(writer, "change", "gpt2-error");
    model.texts = [" upon", new Error("no memory")];
    await writer.write();
    expect(events.map(({ type }) => type)).toEqual(["change", "gpt2-error"]);
    expect([writer.value, written.textContent]).toEqual([" upon", " upon"]);
    await writer.write();
    expect(load).toHaveBeenCalledTimes(1); // the model survives an error of one text
  });

  it("an error of an asynchronous onSummary is an error of the writer", async () => {
    const { writer, errors } = make({ loading: "use" });
    const error = new Error("not saved");
    Object.assign(writer, { options: { onSummary: async () => Promise.reject(error) } });
    await writer.write();
    expect(errors).toEqual([{ error }]);
  });

  it("properties that a framework sets to undefined or null count as not set", async () => {
    const { writer, button, errors } = make({ loading: "use" });
    for (const none of [undefined, null]) {
      Object.assign(writer, { value: "a", words: { write: "Go" } });
      Object.assign(writer, { options: none, loadOptions: none, words: none, value: none });
      expect([writer.value, writer.words, button.textContent]).toEqual(["", {}, "Write"]);
      await writer.write();
    }
    expect(errors).toEqual([]);
    expect(model.calls).toHaveLength(2);
  });

  it("a writer explains its failure, and loads again after an error that ends the model", async () => {
    const { writer, status, bar, pace } = make({ loading: "use" });
    const events = eventsOf(writer, "gpt2-error");
    model.texts = [new RangeError("the worker died")];
    bar.classList.add("busy");
    pace.textContent = "5 MB/s";
    await writer.write();
    expect(status.textContent).toBe("Something went wrong: the worker died");
    expect(status.className).toBe("status failed");
    expect(bar.classList.contains("busy")).toBe(false);
    expect(pace.textContent).toBe("");
    expect(events[0]?.cancelable).toBe(true);
    expect((events[0]?.detail as { error: Error }).error.message).toBe("the worker died");
    load.mockRejectedValueOnce("no words");
    await writer.write();
    expect(status.textContent).toBe("Something went wrong: no words");
    expect(load).toHaveBeenCalledTimes(2);
    model.texts = [];
    await writer.write();
    expect(status.className).toBe("status");
  });

  it("a disabled or read-only writer refuses to write", async () => {
    const { writer } = make({ loading: "use", disabled: "" });
    vi.spyOn(writer, "matches").mockReturnValue(true);
    await writer.write();
    const locked = make({ loading: "use", readonly: "" });
    await locked.writer.write();
    expect([locked.text.readOnly, locked.button.disabled]).toEqual([true, true]);
    expect(load).not.toHaveBeenCalled();
    locked.writer.readOnly = false;
    expect([locked.text.readOnly, locked.button.disabled]).toEqual([false, false]);
  });

  it("a writer follows the text's end, unless the reader scrolled up", async () => {
    const { writer, text } = make({ loading: "use" });
    Object.defineProperties(text, {
      scrollHeight: { get: () => 100 + 10 * text.value.length },
      clientHeight: { value: 50 },
    });
    text.scrollTop = 47;
    model.texts = ["a"];
    await writer.write();
    expect(text.scrollTop).toBe(110);
    text.scrollTop = 56; // four pixels from the end
    await writer.write();
    expect(text.scrollTop).toBe(56);
  });
});

describe("the undo history", () => {
  /** A writer, and functions of its user. */
  function makeUsed() {
    const made = make({ loading: "use" });
    const type = (data: string) => {
      made.text.value += data;
      made.text.dispatchEvent(new InputEvent("input", { inputType: "insertText", data }));
    };
    const press = (more: KeyboardEventInit, on: HTMLElement = made.text) => {
      const event = new KeyboardEvent("keydown", {
        ...{ key: "z", ctrlKey: true, bubbles: true, cancelable: true },
        ...more,
      });
      on.dispatchEvent(event);
      expect(event.defaultPrevented).toBe(true); // the browser's own history is wrong
      return made.text.value;
    };
    return { ...made, type, press };
  }
  const undo = {};
  const redo = { shiftKey: true, key: "Z" };

  it("each text of the model and each typed word is one step; an edit ends what Redo restores", async () => {
    const { writer, text, button, type, press } = makeUsed();
    for (const data of ["One", " ", "day"]) type(data);
    model.texts = [" two", " three"];
    await writer.write();
    await writer.write();
    type(".");
    await writer.write();
    const inputs = eventsOf(writer, "input");
    expect(press(undo, button)).toBe("One day two three two three."); // a press of Write may have moved the focus
    expect([text.selectionEnd, inputs.length]).toEqual([text.value.length, 1]);
    const before = ["One day two three two three", "One day two three", "One day", "One", "", ""];
    expect(before.map(() => press(undo))).toEqual(before);
    expect(press({ key: "y" })).toBe("One");
    type("!");
    expect(press(redo)).toBe("One!");
  });

  it("another value or a reset of the form begins a new history, and nothing changes while the model writes", async () => {
    const made = makeUsed();
    const { writer, type, press } = made;
    type("One");
    writer.value = "Two";
    expect(press(undo)).toBe("Two");
    type("!");
    writer.formResetCallback();
    expect(press(undo)).toBe("");
    type("One");
    const { ended } = await startWriting(made);
    expect(press(undo)).toBe("One");
    writer.stop();
    await ended;
    expect(press(undo)).toBe("");
  });

  it("the browser's own commands restore the writer's texts", () => {
    const { text, type } = makeUsed();
    type("One");
    const command = (inputType: string) =>
      text.dispatchEvent(new InputEvent("beforeinput", { inputType, cancelable: true }));
    expect([command("historyUndo"), text.value]).toEqual([false, ""]);
    expect([command("historyRedo"), text.value]).toEqual([false, "One"]);
  });
});

describe("loading", () => {
  it("a loading writer announces it once and shows a bar; nothing remains afterwards", async () => {
    const { writer, status, bar, pace } = make({ loading: "eager" });
    const events = eventsOf(writer, "gpt2-progress");
    await vi.waitFor(() => expect(load).toHaveBeenCalled());
    progress({ bytesPerSecond: 1e6, secondsLeft: 3 });
    expect(status.textContent).toBe("Loading the model");
    expect(bar.hasAttribute("value")).toBe(false);
    progress({ loadedBytes: 1_000_000, totalBytes: 4_000_000, bytesPerSecond: 1e6, secondsLeft: 3 });
    expect(status.textContent).toBe("Loading the model, 4.0 MB");
    expect(pace.textContent).toMatch(/MB\/s/);
    expect(bar.value).toBe(0.25);
    expect(bar.classList.contains("busy")).toBe(true);
    const said = status.firstChild;
    progress({ loadedBytes: 1_500_000, totalBytes: 4_000_000 });
    expect(status.firstChild).toBe(said); // not read out again
    progress({ stage: "ready", loadedBytes: 4, totalBytes: 4, bytesPerSecond: 1e6, secondsLeft: 3 });
    expect(status.textContent).toBe("");
    expect(pace.textContent).toBe("");
    expect(bar.classList.contains("busy")).toBe(false);
    expect(events).toHaveLength(4);
  });

  const headers = { a: "b" };
  it.each([
    [0, { loading: "use" }, () => {}],
    [0, { loading: "eager", model: "" }, () => {}],
    [1, { loading: "eager" }, (writer: Writer) => void (writer.loadOptions = { headers })], // right after its definition
    [0, { loading: "eager" }, (writer: Writer) => writer.setAttribute("loading", "use")],
    [0, { loading: "eager" }, (writer: Writer) => writer.remove()],
  ])("a writer starts %i loads by itself with the attributes %j", async (loads, attributes, change) => {
    change(make(attributes).writer);
    await nextTask();
    expect(FakeObserver.all).toEqual([]);
    expect(load).toHaveBeenCalledTimes(loads);
    if (loads > 0) expect(options()).toMatchObject({ headers, prompt: "" });
  });

  it("a load that fails is reported once, if the element is still in the page", async () => {
    let fail = (_: Error) => {};
    load.mockReturnValue(new Promise((_, reject) => (fail = reject)));
    const { writer, status, errors } = make({ loading: "eager" });
    const done = writer.write(); // waits for the same load
    await nextTask();
    fail(new Error("404"));
    await done;
    expect(load).toHaveBeenCalledTimes(1);
    expect([errors.length, status.textContent]).toEqual([1, "Something went wrong: 404"]);
    const gone = make({ loading: "eager" });
    gone.writer.remove();
    await nextTask();
    expect(gone.status.textContent).toBe("");
  });

  it.each([
    ["its attributes", () => {}],
    ["a call of write", (writer: Writer) => void writer.write()],
  ])("an eager load that is refused at once is reported once after %s", async (_, also) => {
    load.mockImplementation(async () => Promise.reject(new Error("no number")));
    const { writer, errors } = make({ loading: "use" });
    for (const [name, value] of Object.entries({ loading: "eager", model: "n/", threads: "x" }))
      writer.setAttribute(name, value);
    also(writer);
    await nextTask();
    await nextTask();
    expect(errors).toHaveLength(1);
  });

  it("a load continues after the writing was stopped, and its failure is reported once", async () => {
    const { writer, status, bar, errors } = make({ loading: "use" });
    let fail = (_: Error) => {};
    load.mockReturnValue(new Promise((_, reject) => (fail = reject)));
    for (let i = 0; i < 2; ++i) {
      const done = writer.write();
      writer.stop();
      await done;
    }
    expect([status.textContent, options().signal?.aborted]).toEqual(["Stopped.", false]);
    progress({ loadedBytes: 1, totalBytes: 10e6 });
    fail(new Error("offline"));
    await vi.waitFor(() => expect(status.textContent).toBe("Something went wrong: offline"));
    expect(errors).toHaveLength(1);
    expect(bar.classList.contains("busy")).toBe(false);
  });

  it("a load that another model or none replaces leaves no progress behind", async () => {
    loadUntilAborted();
    const { writer, status, bar, pace } = make({ loading: "use" });
    void writer.write();
    for (const change of [() => (writer.model = "n/"), () => writer.removeAttribute("model")]) {
      await vi.waitFor(() => expect(load.mock.lastCall?.[0]).toBe(writer.model));
      progress({ loadedBytes: 1, totalBytes: 10e6, bytesPerSecond: 1e6, secondsLeft: 3 });
      expect(bar.classList.contains("busy")).toBe(true);
      change();
      expect([bar.className, pace.textContent, status.textContent]).toEqual(["", "", ""]);
    }
  });

  it("a signal in the load options aborts the load", async () => {
    const { writer } = make({ loading: "use" });
    const own = new AbortController();
    writer.loadOptions = { signal: own.signal };
    load.mockReturnValue(new Promise(() => {}));
    void writer.write();
    expect(options().signal?.aborted).toBe(false);
    own.abort();
    expect(options().signal?.aborted).toBe(true);
  });

  it("a load that is no longer needed ends silently when the model is removed", async () => {
    loadUntilAborted();
    const { writer, status, errors } = make({ loading: "eager" });
    await vi.waitFor(() => expect(load).toHaveBeenCalled());
    writer.removeAttribute("model");
    await nextTask();
    expect([errors, status.textContent]).toEqual([[], ""]);
  });

  it("another model is loaded when an attribute asks for it; what was being written is stopped", async () => {
    const made = make({ loading: "use", kv: "q8" });
    const { writer, status } = made;
    const { ended } = await startWriting(made);
    writer.setAttribute("kv", "q8");
    writer.setAttribute("seed", "1");
    expect(model.dispose).not.toHaveBeenCalled();
    writer.setAttribute("kv", "f32");
    expect(status.textContent).toBe("");
    await ended;
    await vi.waitFor(() => expect(model.dispose).toHaveBeenCalledTimes(1));
    writer.setAttribute("loading", "eager");
    writer.model = "n/";
    await vi.waitFor(() => expect(load.mock.lastCall?.[0]).toBe("n/"));
  });

  it("a loading writer survives a moment outside the document, during which it does nothing", async () => {
    vi.useFakeTimers();
    const { writer } = make({ loading: "eager" });
    writer.remove();
    document.body.append(writer);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(model.dispose).not.toHaveBeenCalled();
    const seen = make();
    seen.writer.remove();
    expect(FakeObserver.all[0]?.observed.size).toBe(0);
    model.waits = true;
    void writer.write();
    await vi.advanceTimersByTimeAsync(1);
    writer.remove();
    document.body.append(writer); // it was only moved
    await vi.advanceTimersByTimeAsync(1);
    expect(model.calls[0]?.call.signal?.aborted).toBe(false);
    writer.remove();
    await vi.advanceTimersByTimeAsync(1);
    expect(model.calls[0]?.call.signal?.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(model.dispose).toHaveBeenCalledTimes(1);
  });

  it("a writer that moveBefore moves keeps writing, and shows the words of its new place", async () => {
    const made = make({ loading: "use" });
    await startWriting(made);
    made.button.textContent = "Stopp"; // stands for another language, because happy-dom has no moveBefore
    made.writer.connectedMoveCallback();
    expect(made.button.textContent).toBe("Stop");
    expect(model.calls[0]?.call.signal?.aborted).toBe(false);
  });
});

describe("in a page and its form", () => {
  it("a writer's parts have names for screen readers", () => {
    const { writer } = make({ loading: "use" });
    expect(writer.shadowRoot?.innerHTML).toBe(
      '<textarea part="text" rows="6" aria-busy="false" aria-label="Text to continue"></textarea>' +
        '<div part="footer" class="footer"><button part="button" type="button">Write</button>' +
        '<div class="state"><span part="status" class="status" role="status"></span>' +
        '<span class="pace" aria-hidden="true"></span>' +
        '<progress part="progress" max="1" aria-label="Loading the model"></progress></div></div>' +
        '<div class="unseen" aria-live="polite"></div>',
    );
  });

  it("an attribute changes only what it is for", async () => {
    const made = make({ prompt: "a", label: "b", rows: "3", loading: "use" });
    const { writer, text, status } = made;
    text.value = "by a program";
    writer.setAttribute("prompt", "a");
    writer.setAttribute("label", "c");
    expect(text.value).toBe("by a program");
    expect(text.getAttribute("rows")).toBe("3");
    await startWriting(made);
    const said = status.firstChild;
    writer.setAttribute("label", "d");
    progress({ stage: "ready", loadedBytes: 1, totalBytes: 1 });
    await nextTask();
    expect(status.firstChild).toBe(said);
    expect(load).toHaveBeenCalledTimes(1);
    writer.stop();
  });

  it("properties that were set before the writer was defined are kept", () => {
    const writer = document.createElement("gpt2-late");
    const attributes = { model: "o/", prompt: "p", name: "n", disabled: true, stop: "s", seed: 3 };
    Object.assign(writer, { ...attributes, value: "mine", options: { topK: 1 }, loadOptions: { kv: "q8" } });
    document.body.append(writer);
    customElements.define("gpt2-late", class extends Gpt2Writer {});
    const upgraded = document.querySelector<InstanceType<typeof Gpt2Writer>>("gpt2-late");
    expect(upgraded?.value).toBe("mine");
    for (const [name, value] of Object.entries({ ...attributes, disabled: "", seed: "3" }))
      expect(upgraded?.getAttribute(name)).toBe(value);
    expect(upgraded?.options).toEqual({ topK: 1 });
    expect(upgraded?.loadOptions).toEqual({ kv: "q8" });
  });

  it("every attribute has a property for frameworks, and a method of the same name stays", () => {
    const { writer, text } = make({ loading: "use" });
    const set = (values: object) => Object.assign(writer, values);
    writer.stop = "\n";
    set({ maxNewTokens: 3, baseUrl: "x/", rows: 4, form: "far", readonly: true, required: true });
    set({ model: "o/", name: "story", prompt: "There was", disabled: true });
    expect(writer.outerHTML).toBe(
      '<gpt2-writer model="o/" loading="use" stop="\n" max-new-tokens="3" base-url="x/" rows="4" form="far"' +
        ' readonly="" required="" name="story" prompt="There was" disabled=""></gpt2-writer>',
    );
    expect([writer.model, writer.name, writer.prompt]).toEqual(["o/", "story", "There was"]);
    expect([writer.stop(), writer.readOnly, text.value]).toEqual([undefined, true, "There was"]);
    set({ stop: null, maxNewTokens: undefined, form: null, prompt: null });
    set({ readonly: false, required: undefined, disabled: false, model: undefined, name: undefined });
    expect(writer.outerHTML).toBe('<gpt2-writer loading="use" base-url="x/" rows="4"></gpt2-writer>');
    expect([writer.model, writer.name, writer.prompt, text.value]).toEqual(["", "", "", ""]);
  });

  it("the prompt is the text until it changes; a reset restores it", () => {
    const { writer, text } = make({ prompt: "a", loading: "use" });
    writer.prompt = "b";
    expect(writer.value).toBe("b");
    text.value = "mine";
    text.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    writer.prompt = "c";
    expect(writer.value).toBe("mine");
    expect(internalsOf(writer).formValue).toBe("mine");
    writer.formResetCallback();
    expect(writer.value).toBe("c");
    expect(internalsOf(writer).formValue).toBe("c");
    writer.prompt = "d";
    expect(writer.value).toBe("d");
    writer.formStateRestoreCallback("kept");
    expect([writer.value, internalsOf(writer).formValue]).toEqual(["kept", "kept"]);
  });

  it("disabling by the form stops the model; enabling, or setting the same value, does not", async () => {
    const made = make({ loading: "use" });
    const { writer, text, button, status } = made;
    const { ended } = await startWriting(made);
    writer.formDisabledCallback(false);
    writer.value = ""; // as a framework does when it controls the value
    await nextTask();
    expect(status.textContent).toBe("Writing…");
    writer.formDisabledCallback(true);
    await ended;
    expect(status.textContent).toBe("Stopped.");
    expect([text.disabled, button.disabled]).toEqual([true, true]);
    writer.formDisabledCallback(false);
    expect([text.disabled, button.disabled]).toEqual([false, false]);
  });

  it("an empty required writer is invalid, and so is one with a custom error", () => {
    const { writer, text } = make({ loading: "use" });
    const { setValidity } = internalsOf(writer);
    const expectValidity = (valueMissing: boolean, customError: boolean, message: unknown) =>
      expect(setValidity).toHaveBeenLastCalledWith({ valueMissing, customError }, message, text);
    expectValidity(false, false, "");
    writer.required = true;
    expect(writer.getAttribute("required")).toBe("");
    expectValidity(true, false, expect.stringMatching(/./));
    writer.setCustomValidity("Too sad.");
    expectValidity(true, true, "Too sad.");
    writer.value = "x";
    expectValidity(false, true, "Too sad.");
    writer.setCustomValidity("");
    expectValidity(false, false, "");
  });

  it("replacing a loading model ends its load silently, and the new model writes", async () => {
    const { writer, status, done, errors } = make({ loading: "eager" });
    loadUntilAborted();
    writer.setAttribute("threads", "1");
    const written = writer.write();
    await Promise.resolve();
    load.mockImplementation(async () => model);
    model.texts = [" there"];
    writer.model = "n/";
    await written;
    expect(load.mock.lastCall?.[0]).toBe("n/");
    expect(writer.value).toContain(" there");
    expect([done.length, errors.length]).toEqual([1, 0]);
    expect(status.textContent).toBe("");
  });

  it("without a model the writer says what is missing, and sends no request", async () => {
    const { writer, status } = make({ loading: "use" });
    writer.removeAttribute("model");
    await writer.write();
    expect(status.textContent).toBe(
      'Something went wrong: expected the attribute "model" with the address of a model',
    );
    expect(load).not.toHaveBeenCalled();
  });

  it("the form methods of a writer return what its internals return", () => {
    const { writer } = make({ loading: "use" });
    const internals = internalsOf(writer);
    expect(Gpt2Writer.formAssociated).toBe(true);
    expect(writer.form).toBe(internals.form);
    expect(writer.validity).toBe(internals.validity);
    expect([writer.willValidate, writer.validationMessage]).toEqual([true, "no"]);
    expect(writer.type).toBe("gpt2-writer");
    expect([writer.checkValidity(), writer.reportValidity()]).toEqual([false, false]);
    expect(internals.checkValidity).toHaveBeenCalledTimes(1);
    expect(internals.reportValidity).toHaveBeenCalledTimes(1);
  });

  it("the element's labels name its field", () => {
    const { writer, text } = make({ loading: "use" });
    expect(text.getAttribute("aria-label")).toBe("Text to continue");
    internalsOf(writer).labels = [" Your ", "story"].map((name) => {
      const label = document.createElement("label");
      label.textContent = name;
      return label;
    });
    text.dispatchEvent(new Event("focus"));
    expect(text.getAttribute("aria-label")).toBe("Your story");
    writer.setAttribute("label", "Tale");
    expect(text.getAttribute("aria-label")).toBe("Tale");
  });

  it.each([
    [undefined, {}, undefined],
    [50, {}, 64],
    [50, { "max-new-tokens": "9" }, 9],
  ])(
    "with the model's max_length %s and %j, a writer asks for %s tokens",
    async (maxLength, given, expected) => {
      if (maxLength) model.info.defaults.maxLength = maxLength;
      await make({ loading: "use", ...given }).writer.write();
      expect(model.calls[0]?.call.maxNewTokens).toBe(expected);
    },
  );

  it.each([
    ["title", "a", "title", "a"],
    ["inputmode", "email", "inputmode", "email"],
    ["aria-invalid", "true", "aria-invalid", "true"],
    ["aria-label", "Tale", "aria-label", "Tale"],
    ["aria-labelledby", "one two", "aria-label", "One Two"],
    ["aria-describedby", "two missing", "aria-description", "Two "],
  ])("the attribute %s of a writer, %j, reaches the field as %s, %j", (name, value, copy, expected) => {
    document.body.append(
      ...["One", "Two"].map((text) =>
        Object.assign(document.createElement("p"), { id: text.toLowerCase(), textContent: text }),
      ),
    );
    const { writer, text } = make({ loading: "use", [name]: value });
    expect(text.getAttribute(copy)).toBe(expected);
    writer.removeAttribute(name);
    expect(text.getAttribute(copy)).toBe(copy === "aria-label" ? "Text to continue" : null);
  });

  it("rows applies to the field, with six for an invalid number; change leaves the shadow tree", () => {
    const { writer, text } = make({ loading: "use", rows: "3" });
    expect(text.getAttribute("rows")).toBe("3");
    writer.setAttribute("rows", "many");
    expect(text.getAttribute("rows")).toBe("6");
    const changes = eventsOf(document.body, "change");
    text.dispatchEvent(new Event("change"));
    expect(changes).toHaveLength(1);
    expect(changes[0]?.target).toBe(writer);
  });
});
