// The model of a page in one file: its elements are decoded one at a time, and removed after reading.
import { phrase } from "../language/texts.js";

const elementsOf = (name: string) =>
  document.querySelectorAll<HTMLScriptElement>(`script[data-file="${CSS.escape(name)}"]`);

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let place = 0; place < bytes.length; place += 1) bytes[place] = characters.charCodeAt(place);
  return bytes;
}

/** The size of the bytes that `text`, padded base64, encodes. */
function decodedSize(text: string): number {
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return (text.length / 4) * 3 - padding;
}

/** Files of the model that have been read. Reading removes them, to free their memory. */
const spent = new Set<string>();
export const isModelSpent = () => spent.size > 0;

/** The answer to a second request for a file: the loader asks twice only if the hash was wrong. */
const damaged = () => new Response(null, { status: 410, statusText: phrase("damagedFile") });

/** A `fetch` that serves the files in this page by name, without a request. */
export const fetchEmbedded: typeof fetch = async (input) => {
  const name = (input instanceof Request ? input.url : String(input)).replace(/^.*\//, "");
  const elements = [...elementsOf(name)];
  if (spent.has(name)) return damaged();
  if (elements.length === 0) return new Response(null, { status: 404, statusText: "Not in this page" });
  spent.add(name);
  const size = elements.reduce((sum, element) => sum + decodedSize(element.text), 0);
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const element = elements.shift();
        if (!element) return controller.close();
        controller.enqueue(fromBase64(element.text));
        element.remove();
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { headers: { "Content-Length": String(size) } });
};
