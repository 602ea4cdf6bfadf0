// A static host with faults that a test chooses.
import { readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import type { Page } from "@playwright/test";
import sirv from "sirv";
import { inPage, root } from "./model.js";
import { smallFolder, smallModel, smallPrompt } from "./small-model.js";

interface Setup {
  folder?: string;
  /** The path of the folder on the host, with a slash at its end. */
  below?: string;
  /** Whether it sends the headers for threads. */
  isIsolated?: boolean;
  /** Whether browsers may cache its files. If not, each request comes here. */
  isCached?: boolean;
}

export class FaultyHost {
  /** Answers the request for a file itself and returns true, or leaves it to the host. */
  fault: (name: string, response: ServerResponse) => boolean = () => false;
  /** The files that were answered with bytes. */
  asked: string[] = [];
  /** The files whose answer has not ended. */
  readonly open = new Set<string>();
  /** The files of the small model, by their paths. */
  readonly small = smallModel();
  private readonly below: string;
  private port = 0;
  private readonly server;

  constructor({
    folder = resolve(root, "web/dist"),
    below = "",
    isIsolated = true,
    isCached = false,
  }: Setup = {}) {
    this.below = below;
    const serve = sirv(folder, { dev: true, etag: isCached });
    const serveTinyModels = sirv(resolve(root, "tests/data/tiny-models"), { dev: true });
    this.server = createServer((request, response) => {
      if (isIsolated) {
        response.setHeader("Cross-Origin-Opener-Policy", "same-origin");
        response.setHeader("Cross-Origin-Embedder-Policy", "require-corp");
      }
      if (!isCached) response.setHeader("Cache-Control", "no-store");
      if (!request.url?.startsWith(`/${below}`)) return void response.writeHead(404).end();
      request.url = request.url.slice(below.length);
      const name = new URL(request.url, "http://host").pathname.slice(1);
      this.watch(name, response);
      if (name === "blank")
        return void response.writeHead(200, { "Content-Type": "text/html" }).end("<title>-</title>");
      if (this.fault(name, response)) return;
      const small = this.small.get(name);
      if (small) return void response.writeHead(200, { "Content-Length": small.length }).end(small);
      serve(request, response, () =>
        serveTinyModels(request, response, () => void response.writeHead(404).end()),
      );
    });
  }

  private watch(name: string, response: ServerResponse): void {
    this.open.add(name);
    response.on("close", () => {
      this.open.delete(name);
      if (response.statusCode === 200 && response.writableFinished) this.asked.push(name);
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((listening) => this.server.listen(0, "localhost", listening));
    this.port = (this.server.address() as AddressInfo).port;
  }
  /** The address of the folder. */
  get address(): string {
    return `http://localhost:${this.port}/${this.below}`;
  }
  /** An empty page beside the module. */
  get page(): string {
    return `${this.address}blank`;
  }
  async stop(): Promise<void> {
    const closed = new Promise((done) => this.server.close(done));
    this.server.closeAllConnections();
    await closed;
  }

  /** Lets `code` run before the rest of a script. */
  prepend(script: string, code: string): void {
    const text = readFileSync(resolve(root, "web/dist", script), "utf8");
    const { fault } = this;
    this.fault = (name, response) => {
      if (name !== script) return fault.call(this, name, response);
      response.setHeader("Content-Type", "text/javascript");
      response.end(`${code};\n${text}`);
      return true;
    };
  }

  /** Answers every request for `file` with `answer`. */
  answer(file: RegExp, answer: (response: ServerResponse) => void): void {
    this.fault = (name, response) => {
      if (!file.test(name)) return false;
      answer(response);
      return true;
    };
  }
}

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
