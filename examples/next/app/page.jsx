"use client";
import { loadModel } from "gpt2-wasm"; // on the server, too, where it does nothing until it is called
import { Writer } from "gpt2-wasm/element/react"; // <gpt2-writer maxNewTokens={24}> would lose its props in hydration
import { useEffect, useState } from "react";

export default function Page() {
  const [text, setText] = useState("");
  const [engine, setEngine] = useState("");

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    async function write() {
      setText("");
      const model = await loadModel("/models/demo/", { signal });
      try {
        setEngine(`${model.info.variant}, ${model.info.threads} threads`);
        for await (const token of model.generate("Once upon a time", { maxNewTokens: 24, seed: 1, signal })) {
          setText((before) => before + token.text);
        }
      } finally {
        await model.dispose();
      }
    }
    write().catch((error) => signal.aborted || setText(String(error)));
    return () => controller.abort();
  }, []);

  return (
    <>
      <p>
        <output>{text}</output> <small>{engine}</small>
      </p>
      <Writer
        model="/models/demo/"
        prompt="Once upon a time"
        maxNewTokens={24}
        options={{ seed: 1 }}
        loading="use"
      />
    </>
  );
}
