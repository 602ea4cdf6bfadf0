// A host that counts the bytes of the demo's weights that it sends, and a load from it.
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { resolve } from "node:path";
import type { Page } from "@playwright/test";
import { FaultyHost } from "./faulty-host.js";
import { inPage, prompt, root } from "./model.js";

const piece = (number: number) =>
  readFileSync(resolve(root, `web/dist/models/demo/model.safetensors.00${number}`));
/** Bytes of the demo's weights. */
export function demoBytes(): number {
  const text = readFileSync(resolve(root, "web/dist/models/demo/weights.json"), "utf8");
  return (JSON.parse(text) as { size: number }).size;
}
export const load = { variant: "simd" } as const;

/** Counts the bytes of the weights that it sends. */
export class CountingHost extends FaultyHost {
  /** Bytes of pieces, as they were sent. */
  weightBytes = 0;
  /** Bytes of weights per second, for all connections together, as over a visitor's line; Infinity: all at once. */
  bytesPerSecond = Infinity;
  /** Settles when the line has sent what it has to send so far. */
  private line = Promise.resolve();

  override fault = (name: string, response: ServerResponse): boolean => {
    const number = /model\.safetensors\.00(\d)$/.exec(name)?.[1];
    if (number === undefined) return false;
    const whole = piece(Number(number));
    const from = Number(/^bytes=(\d+)-$/.exec(response.req.headers.range ?? "")?.[1] ?? 0);
    response.writeHead(from > 0 ? 206 : 200, {
      "Content-Length": whole.length - from,
      ...(from > 0 && { "Content-Range": `bytes ${from}-${whole.length - 1}/${whole.length}` }),
    });
    void this.send(whole.subarray(from), response);
    return true;
  };

  private async send(rest: Uint8Array, response: ServerResponse): Promise<void> {
    for (let at = 0; at < rest.length && !response.destroyed;) {
      // Ten times a second, or more often: the page computes the rate from a few tenths of a second.
      const part = rest.subarray(at, at + Math.min(64 * 1024, Math.ceil(this.bytesPerSecond / 10)));
      await (this.line = this.line.then(() => this.occupy(part.length)));
      await new Promise<void>((sent) => response.write(part, () => sent()));
      this.weightBytes += part.length;
      at += part.length;
    }
    response.end();
  }

  /** Waits for as long as the line needs for `bytes`. */
  private async occupy(bytes: number): Promise<void> {
    if (this.bytesPerSecond === Infinity) return;
    await new Promise((later) => setTimeout(later, (bytes / this.bytesPerSecond) * 1000));
  }
}

/** Three greedy tokens, the origin of the bytes, and the message about storing. */
export function write(page: Page, options: object = load) {
  return inPage(
    page,
    async ({ loadModel }, [text, chosen]) => {
      const sources = new Set<string>();
      const model = await loadModel("models/demo/", {
        ...chosen,
        onProgress: ({ stage, source }) => {
          if (stage === "download") sources.add(source);
        },
      });
      const { text: written } = await model.complete(text, { maxNewTokens: 3, temperature: 0 });
      await model.dispose();
      return { written, sources: [...sources], notStored: model.info.notStored };
    },
    [prompt, options] as const,
  );
}
