// A static host that sends the headers for threads, with faults that a test chooses.
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import type { Page } from "@playwright/test";
import sirv from "sirv";
import { withoutHash } from "../../web/scripts/hash-files.mjs";
import { inPage, root } from "./model.js";
import { smallFolder, smallModel, smallPrompt } from "./small-model.js";

const headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cache-Control": "no-store", // each request comes here
};

export class FaultyHost {
  /** Answers the request for a file itself and returns true, or leaves it to the host. */
  fault: (name: string, response: ServerResponse) => boolean = () => false;
  /** The files of the small model, by their paths. */
  readonly small = smallModel();
  private readonly folders = [
    sirv(resolve(root, "web/dist"), { dev: true }),
    sirv(resolve(root, "tests/data/tiny-models"), { dev: true }),
  ];
  private readonly server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const name = new URL(request.url ?? "/", "http://host").pathname.slice(1);
    if (name === "blank")
      return void response.writeHead(200, { "Content-Type": "text/html" }).end("<title>-</title>");
    if (this.fault(name, response)) return;
    const small = this.small.get(name);
    if (small) return void response.writeHead(200, { "Content-Length": small.length }).end(small);
    const [dist, tinyModels] = this.folders;
    dist?.(request, response, () =>
      tinyModels?.(request, response, () => void response.writeHead(404).end()),
    );
  });

  async start(): Promise<void> {
    await new Promise<void>((listening) => this.server.listen(0, "localhost", listening));
  }
  /** An empty page beside the module. */
  get page(): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}/blank`;
  }
  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** Lets `code` run before the rest of a script. */
  prepend(script: string, code: string): void {
    this.fault = (name, response) => {
      if (name !== script) return false;
      response.setHeader("Content-Type", "text/javascript");
      response.end(`${code};\n${withoutHash(readFileSync(resolve(root, "web/dist", script), "utf8"))}`);
      return true;
    };
  }

  /** Answers every request for `file`, or all but the first `good`, with `answer`. */
  answer(file: RegExp, answer: (response: ServerResponse) => void, good = 0): void {
    let seen = 0;
    this.fault = (name, response) => {
      if (!file.test(name) || seen++ < good) return false;
      answer(response);
      return true;
    };
  }
}

export const answerNotFound = (response: ServerResponse) => void response.writeHead(404).end();
export const webPage = (response: ServerResponse) =>
  void response.writeHead(200, { "Content-Type": "text/html" }).end("<!doctype html>");

/** Loads a model and writes three tokens. Returns what it found, or `code: message` if that fails. */
export async function tryModel(
  page: Page,
  folder = smallFolder,
  load: object = {},
  asPrompt: string | number[] = smallPrompt,
) {
  return inPage(
    page,
    async ({ loadModel }, [url, options, text]) => {
      try {
        const model = await loadModel(url, options);
        const { tokens } = await model.complete(text, { maxNewTokens: 3 });
        await model.dispose();
        return `${tokens.length} tokens, ${model.info.variant}, ${model.info.threads}, ${model.info.notice}`;
      } catch (error) {
        const { code, message } = error as { code: string; message: string };
        return `${code}: ${message}`;
      }
    },
    [folder, load, asPrompt] as const,
  );
}
