import { useRef } from "react";
import type { Gpt2Writer } from "gpt2-wasm/element/react";
import "gpt2-wasm/element/react";

export function Story() {
  const writer = useRef<Gpt2Writer>(null);
  return (
    <>
      <gpt2-writer
        ref={writer}
        className="story"
        model="models/demo/"
        rows="6"
        max-new-tokens={24}
        ongpt2-done={({ detail }) => console.log(detail.text.length, writer.current?.value)}
      />
      <textarea id="letter" />
      <gpt2-autocomplete for="letter" model="models/demo/" maxNewTokens={8} />
    </>
  );
}
