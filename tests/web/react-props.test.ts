// @vitest-environment happy-dom
// The props of the components for React; tests/embed/tools.spec.ts renders them on a server.
import { expect, it, vi } from "vitest";
import { setLate, sortProps } from "../../web/src/element/react-props.js";

const [run, other] = [vi.fn(), vi.fn()];

it.each([
  [{ model: "m/", maxNewTokens: 5, rows: 6 }, { model: "m/", "max-new-tokens": 5, rows: 6 }, {}],
  [
    { readOnly: true, className: "a", "aria-label": "b" },
    { readonly: true, className: "a", "aria-label": "b" },
    {},
  ],
  [{ options: { seed: 1 }, value: "a", words: null }, { words: null }, { options: { seed: 1 }, value: "a" }],
  [{ "ongpt2-done": run, onClick: run, style: {} }, { onClick: run, style: {} }, { "ongpt2-done": run }],
  [{ loadOptions: {}, model: "m/" }, {}, { loadOptions: {}, model: "m/" }], // no load before its options
] as const)("of the props %o, a server renders %o", (props, attributes, late) => {
  const sorted = sortProps(props);
  expect(sorted).toEqual({ attributes, late });
  expect(Object.keys(sorted.late).at(-1)).toBe(Object.keys(late).at(-1)); // `model` is last
});

it("properties and listeners follow the props", () => {
  const element = document.createElement("div") as HTMLElement & { options?: unknown };
  const done = () => element.dispatchEvent(new CustomEvent("gpt2-done"));
  const [first, second] = [{ options: { seed: 1 }, "ongpt2-done": run }, { "ongpt2-done": other }];
  setLate(element, {}, first);
  setLate(element, first, first);
  done();
  expect(element.options).toBe(first.options);
  setLate(element, first, second);
  done();
  setLate(element, second, {});
  done();
  expect(element.options).toBeUndefined();
  expect([run, other].map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
});
