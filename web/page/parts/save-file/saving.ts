// "Save as one file": writes the page, the engine and the current model to one HTML file, which opens from disk.
// Fetched on first use.
import { baseAddress } from "../../../src/shared/base-address.js";
import { download } from "../../dom/download.js";
import { composeOneFile, modelFiles } from "./one-file.mjs";
import { formatBytes } from "../../language/numbers.js";
import { phrase } from "../../language/editor.js";
import { setTranslatedText } from "../../language/keep-translated.js";
import { textFile } from "../../library/text-in-page.js";
import { isPage } from "../../../src/model/sources/model-source.js";
import { sha256 } from "../../../src/model/sha256.js";

/** Receives the file piece by piece. */
interface Target {
  write(text: string): Promise<void>;
  close(): Promise<void>;
  abort(): Promise<void>;
}

/** The part of the File System Access API that the page uses, if available: it needs no memory for the file. */
interface SavePicker {
  showSaveFilePicker?: (this: Window, options: object) => Promise<{ createWritable(): Promise<Target> }>;
}

/** Collects the file in memory, then downloads it. */
function downloadTarget(name: string): Target {
  let parts: Blob[] = [];
  return {
    async write(text) {
      parts.push(new Blob([text]));
    },
    async close() {
      download(name, parts, "text/html");
    },
    async abort() {
      parts = [];
    },
  };
}

async function openTarget(name: string): Promise<Target> {
  const { showSaveFilePicker } = window as SavePicker;
  if (!showSaveFilePicker) return downloadTarget(name);
  const types = [{ description: phrase("webPage"), accept: { "text/html": [".html"] } }];
  const file = await showSaveFilePicker.call(window, { suggestedName: name, types });
  return file.createWritable();
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

/** The host's answer; undefined if it has no such file. */
async function ask(url: URL): Promise<Response | undefined> {
  const response = await fetch(url);
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`cannot fetch ${url.href}: the host answered ${response.status}`);
  return response;
}

/** The same for a file of the model: many hosts answer with a page in place of a missing file. */
async function askFile(url: URL): Promise<Response | undefined> {
  const response = await ask(url);
  if (!response || !isPage(response)) return response;
  void response.body?.cancel();
  return undefined;
}

/**
 * Saves the page with the model in `folder`, and with `text` if given. Rejects if that fails or the visitor cancels.
 */
export async function save(folder: URL, status: HTMLElement, text?: string): Promise<void> {
  const name = `${folder.pathname.split("/").at(-2) ?? "model"}.html`.replace(/^(?!gpt)/i, "gpt2-");
  const target = await openTarget(name);
  let written = 0;
  try {
    const page = await ask(new URL("one-file.html", baseAddress()));
    if (!page) throw new Error("one-file.html is not beside this page: the host has only a part of it");
    const index = await askFile(new URL("weights.json", folder));
    const open = async (file: string) => {
      const response = await askFile(new URL(file, folder));
      return response?.body ? chunksOf(response.body) : undefined;
    };
    const files = modelFiles(await index?.text());
    if (text !== undefined) files.push({ name: textFile, size: undefined, isOptional: true, text });
    const parts = composeOneFile(await page.text(), files, open, sha256);
    for await (const part of parts) {
      await target.write(part);
      written += part.length;
      setTranslatedText(status, () => phrase("collecting", { bytes: formatBytes(written) }));
    }
    await target.close();
  } catch (error) {
    await target.abort().catch(() => undefined);
    throw error;
  }
  setTranslatedText(status, () => phrase("saved", { name, bytes: formatBytes(written) }));
}
