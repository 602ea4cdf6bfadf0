// @vitest-environment happy-dom
// One model replaces another in the page of index.html. A scripted loader changes its mind, cancels and fails at every moment.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ChosenModel } from "../../../../web/page/state/page-state.js";

/** A loaded model: its memory, and how often it was disposed of. */
function makeModel(name: string, memoryBytes = 50e6) {
  return {
    name,
    dispose: vi.fn(async () => {}),
    info: {
      memoryBytes,
      variant: "simd",
      threads: 1,
      parameters: 1e6,
      weights: "q8",
      defaults: {},
      notice: null,
      notStored: null,
      warnings: [],
    },
  };
}
type FakeModel = ReturnType<typeof makeModel>;

/** A requested load, and the functions that end it. */
interface Asked {
  source: string;
  signal: AbortSignal;
  /** The model arrived just before the abort, so the abort comes too late. */
  isTooLate: boolean;
  come: (model?: FakeModel) => Promise<FakeModel>;
  fail: (error: Error) => Promise<void>;
}
const { asked, loadModel } = vi.hoisted(() => {
  const all: Asked[] = [];
  return {
    asked: all,
    loadModel: (source: string, { signal }: { signal: AbortSignal }) =>
      new Promise<unknown>((give, reject) => {
        const one: Asked = {
          source,
          signal,
          isTooLate: false,
          come: async (model = makeModel(source)) => {
            give(model);
            await settle();
            return model;
          },
          fail: async (error) => {
            reject(error);
            await settle();
          },
        };
        signal.addEventListener("abort", () => {
          if (!one.isTooLate) reject(new DOMException("aborted", "AbortError"));
        });
        all.push(one);
      }),
  };
});
const settle = () => new Promise((later) => setTimeout(later));

vi.mock("../../../../web/src/client/index.js", () => ({ loadModel, InvalidArgumentError: RangeError }));
vi.mock("../../../../web/page/models/host.js", () => ({
  storesModel: () => true,
  modelFetch: undefined,
  prepareHost: async () => {},
  afterLoad: () => {},
}));
const page = readFileSync(resolve(import.meta.dirname, "../../../../web/page/index.html"), "utf8");
const better: ChosenModel = { source: "hf:user/better", name: "user/better" };
const best: ChosenModel = { source: "hf:user/best", name: "user/best" };
const coming = () => sessionStorage.getItem(`gpt2-coming ${location.pathname}`);
const shown = (id: string) => document.getElementById(id)?.hidden === false;
const textOf = (id: string) => document.getElementById(id)?.textContent ?? "";

/** The parts that show the loaded model, with the demo loaded. */
async function open(memoryBytes?: number) {
  const { PageState } = await import("../../../../web/page/state/page-state.js");
  const { Loading } = await import("../../../../web/page/models/loading.js");
  const { showLoading } = await import("../../../../web/page/parts/loading/progress.js");
  const { showStatus } = await import("../../../../web/page/parts/status/status.js");
  const page = new PageState({ source: "models/demo/", name: "demo" });
  const loading = new Loading(page, () => "");
  const { elements } = await import("../../../../web/page/dom/elements.js");
  showStatus(elements, page, { status: () => {} });
  showLoading(elements, page, loading.cancel);
  const state = {
    stops: 0,
    placed: [] as string[],
    /** Whether a model writes. */
    set isBusy(isBusy: boolean) {
      const stop = async () => {
        state.stops += 1;
        page.activity.value = { kind: "idle" };
      };
      page.activity.value = isBusy ? { kind: "writing", stop } : { kind: "idle" };
    },
  };
  const change = (next: ChosenModel) => loading.change(next, () => state.placed.push(next.name));
  const first = loading.need();
  await vi.waitUntil(() => asked.length === 1);
  const demo = await at(0).come(makeModel("demo", memoryBytes));
  await first;
  const begin = async (next: ChosenModel) => {
    const count = asked.length;
    const ended = change(next);
    await vi.waitUntil(() => asked.length > count);
    return { ended, ...at(count) };
  };
  return {
    currentModel: () => page.loaded.peek(),
    chosenModel: () => page.chosen.peek(),
    needModel: loading.need,
    forgetModel: () => loading.forget(),
    cancelLoading: loading.cancel,
    state,
    demo,
    begin,
    change,
  };
}

function at(place: number): Asked {
  const found = asked[place];
  if (!found) throw new Error(`no load number ${place} was asked for`);
  return found;
}

beforeEach(() => {
  vi.resetModules();
  asked.length = 0;
  sessionStorage.clear();
  document.body.innerHTML = /<body>(.*)<script type="module"/s.exec(page)?.[1] ?? "";
});

describe("a model that loads while another one writes", () => {
  it("a loaded model replaces an idle one at once, and the old one is disposed of once", async () => {
    const { begin, demo, state, currentModel, chosenModel } = await open();
    const { ended, come } = await begin(better);
    expect(coming()).toContain("hf:user/better");
    const next = await come();
    await ended;
    expect(currentModel()).toBe(next);
    expect(chosenModel()).toBe(better);
    expect(state.placed).toEqual(["user/better"]);
    expect(demo.dispose).toHaveBeenCalledTimes(1);
    expect(next.dispose).not.toHaveBeenCalled();
    expect(coming()).toBeNull();
  });

  it("a loaded model waits while another one writes, and replaces it once, however often requested", async () => {
    const { begin, demo, state, currentModel } = await open();
    state.isBusy = true;
    const { ended, come } = await begin(better);
    const next = await come();
    await ended;
    expect(currentModel()).toBe(demo);
    expect(shown("arrival")).toBe(true);
    expect(coming()).not.toBeNull(); // a reload of the page offers it again
    const use = document.getElementById("arrival-use");
    use?.click();
    use?.click();
    await settle();
    expect(currentModel()).toBe(next);
    expect(state.stops).toBe(1);
    expect(demo.dispose).toHaveBeenCalledTimes(1);
    expect(shown("arrival")).toBe(false);
    expect(coming()).toBeNull();
  });

  it.each([false, true])(
    "a loading model is dropped for a second choice, even if it finishes: %s",
    async (isTooLate) => {
      const { begin, demo, currentModel } = await open();
      const first = await begin(better);
      at(1).isTooLate = isTooLate;
      const second = await begin(best);
      expect(first.signal.aborted).toBe(true);
      const late = await first.come();
      expect(coming()).toContain("hf:user/best");
      const next = await second.come();
      await Promise.all([first.ended, second.ended]);
      expect(currentModel()).toBe(next);
      expect(late.dispose).toHaveBeenCalledTimes(isTooLate ? 1 : 0);
      expect(demo.dispose).toHaveBeenCalledTimes(1);
      expect(shown("error")).toBe(false);
    },
  );

  it("a waiting model is disposed of when a second one is chosen", async () => {
    const { begin, demo, state, currentModel } = await open();
    state.isBusy = true;
    const first = await begin(better);
    const waits = await first.come();
    const second = await begin(best);
    await settle();
    expect(waits.dispose).toHaveBeenCalledTimes(1);
    expect([shown("arrival"), shown("loading")]).toEqual([false, true]);
    state.isBusy = false;
    const next = await second.come();
    await second.ended;
    expect(currentModel()).toBe(next);
    expect(waits.dispose).toHaveBeenCalledTimes(1);
    expect(demo.dispose).toHaveBeenCalledTimes(1);
  });

  it("a model that is cancelled at the moment it is ready is disposed of", async () => {
    const { begin, demo, currentModel, cancelLoading } = await open();
    const { ended, come } = await begin(better);
    const there = come(); // it is ready, but the page does not yet know it
    cancelLoading();
    const next = await there;
    await ended;
    expect(currentModel()).toBe(demo);
    expect(demo.dispose).not.toHaveBeenCalled();
    expect(next.dispose).toHaveBeenCalledTimes(1);
    expect(shown("loading")).toBe(false);
    expect(coming()).toBeNull();
    expect(textOf("finish")).toBe("user/better was not loaded; demo stays.");
  });

  it("cancelling a load leaves the old model working, and the page says so", async () => {
    const { begin, demo, currentModel, cancelLoading, state } = await open();
    const { ended } = await begin(better);
    cancelLoading();
    await ended;
    expect(currentModel()).toBe(demo);
    expect(textOf("finish")).toBe("user/better was not loaded; demo stays.");
    expect(state.placed).toEqual([]);
    expect(coming()).toBeNull();
  });

  it("a failed load leaves the writing model working, and a press tries again", async () => {
    const { begin, demo, currentModel, state } = await open();
    state.isBusy = true;
    const { ended, fail } = await begin(better);
    await fail(new Error("no such host"));
    await ended;
    expect(currentModel()).toBe(demo);
    expect(state.stops).toBe(0);
    expect(demo.dispose).not.toHaveBeenCalled();
    expect(textOf("error-text")).toBe("The model could not be loaded: no such host.");
    expect(coming()).toBeNull();
    document.getElementById("error-repair")?.click();
    await vi.waitUntil(() => asked.length === 3);
    state.isBusy = false;
    const next = await at(2).come();
    await settle();
    expect(currentModel()).toBe(next);
  });

  it("if the old model died, the next one is loaded again and writes without a press", async () => {
    const { begin, forgetModel, needModel, currentModel, state } = await open();
    state.isBusy = true;
    const { come } = await begin(better);
    forgetModel();
    const needed = needModel();
    const next = await come();
    expect(await needed).toBe(next);
    expect(currentModel()).toBe(next);
    expect(asked).toHaveLength(2);
  });
});

describe("a model that takes the place of a large one", () => {
  it("before another model loads, a large one is disposed of once, and the last choice wins", async () => {
    const { change, demo, currentModel, chosenModel, state } = await open(400e6);
    const first = change(better);
    const second = change(best);
    await vi.waitUntil(() => asked.length >= 2);
    expect(demo.dispose).toHaveBeenCalledTimes(1);
    await at(asked.length - 1).come();
    await Promise.all([first, second]);
    expect(chosenModel()).toBe(best);
    expect(at(asked.length - 1).source).toBe("hf:user/best");
    expect((currentModel() as unknown as FakeModel).name).toBe("hf:user/best");
    expect(state.placed).toEqual(["user/better", "user/best"]);
  });
});
