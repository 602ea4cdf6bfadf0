// @vitest-environment happy-dom
// One model replaces another. A scripted loader changes its mind, cancels and fails at every moment.
import { beforeEach, expect, it, vi } from "vitest";
import { Loading } from "../../../../web/page/models/loading.js";
import { showLoading } from "../../../../web/page/parts/loading/progress.js";
import type { ChosenModel } from "../../../../web/page/state/page-state.js";
import { makeState, mountMarkup, settle } from "../../support/page-part.js";

/** A requested load, and the functions that end it. */
interface Asked {
  source: string;
  signal: AbortSignal;
  /** The model arrived just before the abort, so the abort comes too late. */
  isTooLate: boolean;
  give: (model: unknown) => void;
  fail: (error: Error) => void;
}
const { asked, loadModel } = vi.hoisted(() => {
  const all: Asked[] = [];
  const load = (source: string, { signal }: { signal: AbortSignal }) =>
    new Promise<unknown>((give, fail) => {
      const one = { source, signal, isTooLate: false, give, fail };
      signal.addEventListener("abort", () => {
        if (!one.isTooLate) fail(new DOMException("aborted", "AbortError"));
      });
      all.push(one);
    });
  return { asked: all, loadModel: load };
});
vi.mock("../../../../web/src/client/index.js", () => ({ loadModel, InvalidArgumentError: RangeError }));
vi.mock("../../../../web/page/models/host.js", () => ({
  storesModel: () => true,
  modelFetch: undefined,
  prepareHost: async () => {},
  afterLoad: () => {},
}));

const better: ChosenModel = { source: "hf:user/better", name: "user/better" };
const best: ChosenModel = { source: "hf:user/best", name: "user/best" };
/** The download that a reload would continue. */
const remembered = () => sessionStorage.getItem(`gpt2-coming ${location.pathname}`);
const at = (place: number) => asked[place] ?? expect.fail(`no load number ${place} was asked for`);

/** Lets the requested model number `place` arrive. */
async function arrive(place: number, memoryBytes = 50e6) {
  const model = { dispose: vi.fn(async () => {}), info: { memoryBytes } };
  at(place).give(model);
  await settle();
  return model;
}

/** The parts that show the loaded model, with the demo loaded. */
async function open(memoryBytes?: number) {
  const ui = mountMarkup(
    ...(["loading", "loadingStage", "loadingBytes", "loadingProgress", "loadingCancel", "arrival"] as const),
    ...(["arrivalText", "arrivalUse", "generate", "errorRepair", "errorReset"] as const),
  );
  const state = makeState();
  const loading = new Loading(state, () => "");
  showLoading(ui, state, loading.cancel);
  const placed: string[] = [];
  const change = (next: ChosenModel) => loading.change(next, () => placed.push(next.name));
  /** Requests a model; `ended` resolves when its load has ended. */
  const begin = async (next: ChosenModel) => {
    const place = asked.length;
    const ended = change(next);
    await vi.waitUntil(() => asked.length > place);
    return { ended, place };
  };
  const stop = vi.fn(async () => void (state.activity.value = { kind: "idle" }));
  const startWriting = () => (state.activity.value = { kind: "writing", stop });
  const first = loading.need();
  await vi.waitUntil(() => asked.length === 1);
  const demo = await arrive(0, memoryBytes);
  await first;
  const current = () => state.loaded.peek();
  return { ui, state, loading, placed, change, begin, stop, startWriting, demo, current };
}

beforeEach(() => {
  asked.length = 0;
  sessionStorage.clear();
});

it("a loaded model waits while another one writes, and replaces it once, however often requested", async () => {
  const { begin, startWriting, stop, demo, ui, current } = await open();
  startWriting();
  const { ended, place } = await begin(better);
  const next = await arrive(place);
  await ended;
  expect([current() === (demo as unknown), ui.arrival.hidden]).toEqual([true, false]);
  expect(remembered()).not.toBeNull(); // a reload of the page offers it again
  ui.arrivalUse.click();
  ui.arrivalUse.click();
  await settle();
  expect(current()).toBe(next);
  expect([stop, demo.dispose].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  expect([ui.arrival.hidden, remembered()]).toEqual([true, null]);
});

it.each([false, true])("a second choice ends a load, even one that finishes: %s", async (isTooLate) => {
  const { begin, demo, state, current } = await open();
  const first = await begin(better);
  at(1).isTooLate = isTooLate;
  const second = await begin(best);
  expect(at(1).signal.aborted).toBe(true);
  const late = await arrive(first.place);
  expect(remembered()).toContain("hf:user/best");
  const next = await arrive(second.place);
  await Promise.all([first.ended, second.ended]);
  expect(current()).toBe(next);
  expect(late.dispose).toHaveBeenCalledTimes(isTooLate ? 1 : 0);
  expect(demo.dispose).toHaveBeenCalledTimes(1);
  expect(state.problem.peek()).toBeUndefined();
});

it("a waiting model is disposed of when a second one is chosen", async () => {
  const { begin, startWriting, stop, demo, ui, current } = await open();
  startWriting();
  const waits = await arrive((await begin(better)).place);
  const second = await begin(best);
  await settle();
  expect([ui.arrival.hidden, ui.loading.hidden]).toEqual([true, false]);
  await stop();
  const next = await arrive(second.place);
  await second.ended;
  expect(current()).toBe(next);
  expect([waits, demo].map(({ dispose }) => dispose.mock.calls.length)).toEqual([1, 1]);
});

it("a model that is cancelled at the moment it is ready is disposed of", async () => {
  const { begin, loading, demo, ui, state, current } = await open();
  const { ended, place } = await begin(better);
  const coming = arrive(place); // it is ready, but the page does not yet know it
  loading.cancel();
  const next = await coming;
  await ended;
  expect(current()).toBe(demo);
  expect([demo, next].map(({ dispose }) => dispose.mock.calls.length)).toEqual([0, 1]);
  expect([ui.loading.hidden, remembered()]).toEqual([true, null]);
  expect(state.status.peek()()).toBe("user/better was not loaded; demo stays.");
});

it("a failed load leaves the writing model working, and its repair tries again", async () => {
  const { begin, startWriting, stop, demo, state, current } = await open();
  startWriting();
  const { ended, place } = await begin(better);
  at(place).fail(new Error("no such host"));
  await ended;
  expect(current()).toBe(demo);
  expect([stop, demo.dispose].map(({ mock }) => mock.calls.length)).toEqual([0, 0]);
  const { sentence, repair } = state.problem.peek() ?? expect.fail("nothing is said");
  expect([sentence("no such host"), remembered()]).toEqual([
    "The model could not be loaded: no such host.",
    null,
  ]);
  await stop();
  repair?.run();
  await vi.waitUntil(() => asked.length === 3);
  const next = await arrive(2);
  expect(current()).toBe(next);
});

it("before another model loads, a large one is disposed of once, and the last choice wins", async () => {
  const { change, demo, current, placed } = await open(400e6);
  const both = [change(better), change(best)];
  await vi.waitUntil(() => asked.length >= 2);
  expect(demo.dispose).toHaveBeenCalledTimes(1);
  const last = asked.length - 1;
  const next = await arrive(last);
  await Promise.all(both);
  expect([at(last).source, current()]).toEqual(["hf:user/best", next]);
  expect(placed).toEqual(["user/better", "user/best"]);
});
