/** @jsxImportSource solid-js */
import "gpt2-wasm/element/solid";

export const Story = () => (
  <>
    <gpt2-writer
      class="story"
      model="models/demo/"
      rows="6"
      attr:max-new-tokens={24}
      on:gpt2-done={({ detail }) => console.log(detail.text.length)}
    />
    <textarea id="letter" />
    <gpt2-autocomplete for="letter" model="models/demo/" prop:maxNewTokens={8} />
  </>
);
