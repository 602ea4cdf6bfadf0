import React, { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { loadModel } from "gpt2-wasm";

/** Writes on after `prompt`; leaving the page, or StrictMode's second mount, ends what the first one began. */
function Story({ prompt }) {
  const [text, setText] = useState("");
  const [engine, setEngine] = useState("");

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    async function write() {
      setText("");
      const model = await loadModel("models/demo/", { signal });
      try {
        setEngine(`${model.info.variant}, ${model.info.threads} threads`);
        for await (const token of model.generate(prompt, { maxNewTokens: 24, seed: 1, signal })) {
          setText((before) => before + token.text);
        }
      } finally {
        await model.dispose();
      }
    }
    write().catch((error) => signal.aborted || setText(String(error)));
    return () => controller.abort();
  }, [prompt]);

  return (
    <p>
      <output>{text}</output> <small>{engine}</small>
    </p>
  );
}

function App() {
  const [shown, setShown] = useState(true);
  return (
    <>
      <button onClick={() => setShown(!shown)}>{shown ? "Unmount" : "Mount"}</button>
      {shown && <Story prompt="Once upon a time" />}
    </>
  );
}

createRoot(document.getElementById("root")).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
