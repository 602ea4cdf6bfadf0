// @vitest-environment happy-dom
// The elements in unit tests of pages: in a document that lacks the features that they need.
import { expect, it, vi } from "vitest";
import "../../web/src/element/index.js";

it("the elements mount in happy-dom without throwing and stay empty", () => {
  const onError = vi.fn();
  window.addEventListener("error", onError);
  document.body.innerHTML = `<form><gpt2-writer model="m" name="story"></gpt2-writer></form>
    <gpt2-autocomplete model="m" for="letter"></gpt2-autocomplete><textarea id="letter"></textarea>`;
  const writer = document.querySelector("gpt2-writer");
  expect(writer?.getAttribute("model")).toBe("m");
  expect(writer?.shadowRoot).toBeNull();
  expect(customElements.get("gpt2-writer")).toBeDefined();
  document.querySelector("textarea")?.focus();
  document.body.replaceChildren();
  expect(onError).not.toHaveBeenCalled();
});
