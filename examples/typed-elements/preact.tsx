/** @jsxImportSource preact */
import "gpt2-wasm/element/preact";

export const Story = () => (
  <>
    <gpt2-writer
      class="story"
      model="models/demo/"
      rows="6"
      max-new-tokens={24}
      ongpt2-done={({ detail }) => console.log(detail.text.length)}
    />
    <textarea id="letter" />
    <gpt2-autocomplete for="letter" model="models/demo/" />
  </>
);
