// A fetch that reads files, too: Node.js's own refuses file: addresses.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";

const types: Readonly<Record<string, string>> = { js: "text/javascript", json: "application/json" };

/** As `fetch`; a missing file, or a folder, is answered with 404. */
export function fetchFileToo(fetch: typeof globalThis.fetch): typeof globalThis.fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.protocol !== "file:") return fetch(input, init);
    const found = await stat(url).catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw error;
    });
    init.signal?.throwIfAborted(); // a stream with an aborted signal ends the thread: its error has no listener yet
    if (!found?.isFile()) return new Response(null, { status: 404, statusText: "no such file" });
    const stream = Readable.toWeb(createReadStream(url, { signal: init.signal ?? undefined }));
    const type = types[url.pathname.split(".").pop() ?? ""] ?? "application/octet-stream";
    return new Response(stream as ReadableStream, {
      headers: { "Content-Length": String(found.size), "Content-Type": type },
    });
  };
}
