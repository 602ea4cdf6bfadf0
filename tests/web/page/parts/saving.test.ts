// @vitest-environment happy-dom
// The contents of "Save as one file".
import { expect, it, vi } from "vitest";
import { marker, pageEnding } from "../../../../web/page/parts/save-file/one-file.mjs";
import { save } from "../../../../web/page/parts/save-file/saving.js";
import { sha256 } from "../../../../web/src/model/sha256.js";

it("a host's page in place of a missing file is not saved as a file of the model", async () => {
  const start = `<html>${marker}</html>`;
  const page = start + pageEnding(await sha256(new TextEncoder().encode(start)));
  const files: Record<string, string> = { "config.json": "{}", "vocab.txt": "a", "model.safetensors": "w" };
  vi.stubGlobal("fetch", async (url: URL) => {
    const name = url.pathname.replace(/^.*\//, "");
    if (files[name] !== undefined)
      return new Response(files[name], { headers: { "Content-Type": "text/plain" } });
    return new Response(page, { headers: { "Content-Type": "text/html; charset=utf-8" } });
  });
  let saved = "";
  const target = {
    write: async (text: string) => void (saved += text),
    close: async () => {},
    abort: async () => {},
  };
  vi.stubGlobal("showSaveFilePicker", async () => ({ createWritable: async () => target }));
  await save(new URL("https://host/models/chinese/"), document.createElement("p"));
  const names = Array.from(saved.matchAll(/data-file="([^"]*)"/g), ([, name]) => name);
  expect(names).toEqual(["config.json", "vocab.txt", "model.safetensors"]);
});
