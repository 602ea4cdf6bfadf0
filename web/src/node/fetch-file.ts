// A fetch that reads files, too: Node.js's own refuses file: addresses.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { Readable } from "node:stream";

const types: Readonly<Record<string, string>> = { js: "text/javascript", json: "application/json" };

/** As `fetch`; a missing file, or a folder, is answered with 404. The header Range may ask for the rest of a file. */
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
    const { size } = found;
    const wanted = Number(/^bytes=(\d+)-$/.exec(new Headers(init.headers).get("Range") ?? "")?.[1] ?? 0);
    const start = wanted < size ? wanted : 0; // a host may ignore a range, too
    const stream = Readable.toWeb(createReadStream(url, { start, signal: init.signal ?? undefined }));
    const type = types[url.pathname.split(".").pop() ?? ""] ?? "application/octet-stream";
    return new Response(stream as ReadableStream, {
      status: start > 0 ? 206 : 200,
      headers: {
        "Content-Length": String(size - start),
        "Content-Type": type,
        ...(start > 0 && { "Content-Range": `bytes ${start}-${size - 1}/${size}` }),
      },
    });
  };
}
