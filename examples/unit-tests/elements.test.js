import "gpt2-wasm/element";

// In jsdom and happy-dom the elements mount and do nothing: your page's own tests run.
test("a page with the elements", () => {
  document.body.innerHTML = `
    <form>
      <gpt2-writer name="story" model="models/demo/" prompt="Once upon a time"></gpt2-writer>
      <textarea id="letter"></textarea>
      <gpt2-autocomplete for="letter" model="models/demo/"></gpt2-autocomplete>
    </form>`;
  const writer = document.querySelector("gpt2-writer");
  expect(customElements.get("gpt2-writer")).toBeDefined();
  expect(writer.shadowRoot).toBeNull();
  document.querySelector("textarea").focus();
  document.body.replaceChildren();
});
