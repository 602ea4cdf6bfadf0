// The engine in WebAssembly: engine/api/api.h with JavaScript's types. Nothing else knows of pointers.
import { Gpt2Error, WorkerError } from "../shared/errors.js";
import { afterFailure, failureOf } from "../shared/failures.js";
import type { Token, TokenLogprob } from "../shared/types.js";
import { toJson } from "./json.js";

type StartFunction = (
  engine: number,
  prompt: number,
  size: number,
  isIds: number,
  options: number,
  optionsSize: number,
) => number;

/** What Emscripten's module gives: every function of engine/api/api.h, which a test compares. */
interface EngineModule {
  _gpt2_allocate(size: number): number;
  _gpt2_free(pointer: number): void;
  _gpt2_create(threads: number): number;
  _gpt2_destroy(engine: number): void;
  _gpt2_started_threads(engine: number): number;
  _gpt2_drop_unstarted_threads(engine: number): void;
  _gpt2_load_begin(engine: number, ...pointersAndSizes: number[]): number;
  _gpt2_load_weights(engine: number, bytes: number, size: number): number;
  _gpt2_load_prompt(engine: number, prompt: number, size: number, isIds: number): number;
  _gpt2_load_step(engine: number): number;
  _gpt2_load_end(engine: number): number;
  _gpt2_is_exact(): number;
  _gpt2_tune_threads(engine: number): number;
  _gpt2_tokenize(engine: number, text: number, size: number, options: number, optionsSize: number): number;
  _gpt2_tokenize_step(engine: number): number;
  _gpt2_token_ids(engine: number): number;
  _gpt2_detokenize(engine: number, ids: number, count: number): number;
  _gpt2_generate: StartFunction;
  _gpt2_step(engine: number): number;
  _gpt2_summary(engine: number): number;
  _gpt2_suspend(engine: number): number;
  _gpt2_resume(engine: number, generation: number): number;
  _gpt2_discard(engine: number, generation: number): void;
  _gpt2_score: StartFunction;
  _gpt2_score_step(engine: number): number;
  _gpt2_output(engine: number): number;
}

/** Emscripten's own script of a build. `instantiateWasm` takes the place of its fetching and compiling. */
export type EngineFactory = (options: {
  wasmMemory: WebAssembly.Memory;
  instantiateWasm: (
    imports: WebAssembly.Imports,
    receive: (instance: WebAssembly.Instance, code: WebAssembly.Module) => WebAssembly.Exports,
  ) => WebAssembly.Exports;
}) => Promise<EngineModule>;

type StartCall = "_gpt2_generate" | "_gpt2_score";
type StepCall = "_gpt2_step" | "_gpt2_score_step" | "_gpt2_load_step";
type PlainCall = "_gpt2_load_end" | "_gpt2_tune_threads" | "_gpt2_summary" | "_gpt2_suspend";

/** What a generation or a scoring has to say: Gpt2Output of engine/api/api.h. */
export interface Output {
  /** Those of the last step. `logprob` is NaN for the first of a text that is scored. */
  tokens: Token[];
  /** Tokens that have been prefilled, or scored, and how many there are; of a load, layers. */
  done: number;
  total: number;
  isDone: boolean;
}

/** The fields of Gpt2Output and of Gpt2Token, each of 32 bits. */
const outputWords = 7;
const tokenWords = 5;

export class Engine {
  private readonly encoder = new TextEncoder();
  /** A token may begin with U+FEFF, which is text here. */
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  private readonly engine: number;
  /** Why it is not called any more. */
  private failure: Gpt2Error | undefined;

  private readonly module: EngineModule;
  private readonly memory: WebAssembly.Memory;

  private constructor(module: EngineModule, memory: WebAssembly.Memory, threads: number) {
    this.module = module;
    this.memory = memory;

    this.engine = this.run(() => module._gpt2_create(threads)) >>> 0;
    if (this.engine === 0) throw new Gpt2Error("out-of-memory", "no memory for the engine");
  }

  static async create(
    createModule: EngineFactory,
    code: WebAssembly.Module,
    memory: WebAssembly.Memory,
    threads: number,
  ): Promise<Engine> {
    try {
      const module = await createModule({
        wasmMemory: memory,
        instantiateWasm: (imports, receive) => receive(new WebAssembly.Instance(code, imports), code),
      });
      return new Engine(module, memory, threads);
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Whether the kernels of this build give exact results in this browser. */
  get isExact(): boolean {
    return this.run(() => this.module._gpt2_is_exact()) !== 0;
  }

  /** Threads that run by now, this one among them. */
  get startedThreads(): number {
    return this.run(() => this.module._gpt2_started_threads(this.engine));
  }

  /** Continues without the threads that have not started. */
  dropUnstartedThreads(): void {
    this.run(() => this.module._gpt2_drop_unstarted_threads(this.engine));
  }

  /** Ends its threads and gives its memory back. Nothing can be asked of it afterwards. */
  destroy(): void {
    if (this.failure) return;
    this.run(() => this.module._gpt2_destroy(this.engine));
    this.failure = new WorkerError("disposed", "the model was disposed of");
  }

  get memoryBytes(): number {
    return this.memory.buffer.byteLength;
  }

  loadBegin(config: string, vocab: string, merges: string, options: object): void {
    const texts = [config, vocab, merges, toJson(options)].map((text) => this.encoder.encode(text));
    const pointers = texts.map((bytes) => this.copyIn(bytes));
    try {
      const pairs = texts.flatMap((bytes, i) => [pointers[i] ?? 0, bytes.length]);
      this.parse(this.run(() => this.module._gpt2_load_begin(this.engine, ...pairs)));
    } finally {
      for (const pointer of pointers) this.free(pointer);
    }
  }

  loadWeights(bytes: Uint8Array): void {
    this.withBytes(bytes, (pointer) =>
      this.parse(this.run(() => this.module._gpt2_load_weights(this.engine, pointer, bytes.length))),
    );
  }

  /** Gives a load the prompt that `_gpt2_load_step` prefills. */
  loadPrompt(prompt: string | readonly number[]): void {
    this.withPrompt(prompt, (pointer, size, isIds) =>
      this.parse(this.run(() => this.module._gpt2_load_prompt(this.engine, pointer, size, isIds))),
    );
  }

  /** Calls that take nothing but the engine. */
  call(name: PlainCall): unknown {
    return this.parse(this.run(() => this.module[name](this.engine)));
  }

  /** Takes a step of what was started. */
  step(name: StepCall): Output {
    this.parse(this.run(() => this.module[name](this.engine)));
    return this.output();
  }

  /** What the last step has to say, or, before the first, the start. */
  output(): Output {
    const at = this.run(() => this.module._gpt2_output(this.engine)) >>> 0;
    const { buffer } = this.memory;
    const [tokensAt, count = 0, textAt = 0, textSize = 0, done = 0, total = 0, isDone] = new Uint32Array(
      buffer,
      at,
      outputWords,
    );
    const words = new Int32Array(buffer, tokensAt, count * tokenWords);
    const floats = new Float32Array(buffer, tokensAt, words.length);
    const text = textSize > 0 ? this.decode(textAt, textSize) : "";
    let place = 0;
    let end = 0;
    const read = (): TokenLogprob => {
      const start = end;
      end += words[place + 3] ?? 0;
      const token = {
        id: words[place + 1] ?? 0,
        text: text.slice(start, end),
        logprob: floats[place + 2] ?? 0,
      };
      place += tokenWords;
      return token;
    };
    const tokens: Token[] = [];
    while (place < words.length) {
      const [index = 0, topCount = 0] = [words[place], words[place + 4]];
      const token: Token = { index, ...read() };
      if (topCount > 0) token.top = Array.from({ length: topCount }, read);
      tokens.push(token);
    }
    return { tokens, done, total, isDone: isDone === 1 };
  }

  /** Makes a generation that was suspended the one under way again. */
  resume(generation: number): void {
    this.parse(this.run(() => this.module._gpt2_resume(this.engine, generation)));
  }

  /** Forgets a generation that was suspended. */
  discard(generation: number): void {
    this.run(() => this.module._gpt2_discard(this.engine, generation));
  }

  /** Calls that start from a prompt, text or token ids. */
  start(name: StartCall, prompt: string | readonly number[], options: object): unknown {
    return this.withPrompt(prompt, (pointer, size, isIds) =>
      this.withJson(options, (at, jsonSize) =>
        this.module[name](this.engine, pointer, size, isIds, at, jsonSize),
      ),
    );
  }

  tokenize(text: string, options: object): number[] {
    const bytes = this.encoder.encode(text);
    return this.withBytes(bytes, (pointer) => {
      this.withJson(options, (at, size) =>
        this.module._gpt2_tokenize(this.engine, pointer, bytes.length, at, size),
      );
      const all: number[] = [];
      for (;;) {
        const step = this.parse(this.run(() => this.module._gpt2_tokenize_step(this.engine))) as {
          count: number;
          isDone: boolean;
        };
        const ids = this.run(() => this.module._gpt2_token_ids(this.engine)) >>> 0;
        for (const id of new Int32Array(this.memory.buffer, ids, step.count)) all.push(id);
        if (step.isDone) return all;
      }
    });
  }

  detokenize(ids: readonly number[]): string {
    return this.withBytes(idBytes(ids), (pointer) =>
      this.parse(this.run(() => this.module._gpt2_detokenize(this.engine, pointer, ids.length))),
    ) as string;
  }

  /** Every call into the engine. One that throws is the last: the state it left is undefined. */
  private run<T>(call: () => T): T {
    if (this.failure) throw this.failure;
    try {
      return call();
    } catch (error) {
      const failure = failureOf(error);
      this.failure = afterFailure(failure);
      throw failure;
    }
  }

  /** A view that the next call may invalidate, as memory can grow. */
  private view(pointer: number, size: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, pointer, size);
  }

  private allocate(size: number): number {
    const pointer = this.run(() => this.module._gpt2_allocate(Math.max(1, size))) >>> 0;
    if (pointer === 0) throw new Gpt2Error("out-of-memory", `no memory for ${size} bytes`);
    return pointer;
  }

  private free(pointer: number): void {
    if (!this.failure) this.module._gpt2_free(pointer);
  }

  private copyIn(bytes: Uint8Array): number {
    const pointer = this.allocate(bytes.length);
    this.view(pointer, bytes.length).set(bytes);
    return pointer;
  }

  private withBytes<T>(bytes: Uint8Array, use: (pointer: number) => T): T {
    const pointer = this.copyIn(bytes);
    try {
      return use(pointer);
    } finally {
      this.free(pointer);
    }
  }

  /** What a call answers that takes `options` as JSON. */
  private withJson(options: object, call: (pointer: number, size: number) => number): unknown {
    const json = this.encoder.encode(toJson(options));
    return this.withBytes(json, (at) => this.parse(this.run(() => call(at, json.length))));
  }

  private withPrompt<T>(
    prompt: string | readonly number[],
    use: (pointer: number, size: number, isIds: number) => T,
  ): T {
    const isText = typeof prompt === "string";
    const bytes = isText ? this.encoder.encode(prompt) : idBytes(prompt);
    return this.withBytes(bytes, (pointer) => use(pointer, bytes.length, isText ? 0 : 1));
  }

  private decode(pointer: number, size: number): string {
    return this.decoder.decode(this.view(pointer, size).slice()); // decode refuses shared memory
  }

  /** The result of a reply; undefined where it has none. */
  private parse(pointer: number): unknown {
    if (pointer === 0) return undefined;
    const start = pointer >>> 0;
    const size = new Uint8Array(this.memory.buffer, start).indexOf(0);
    const reply = JSON.parse(this.decode(start, size)) as {
      result?: unknown;
      error?: { code: string; message: string };
    };
    if (reply.error) throw new Gpt2Error(reply.error.code, reply.error.message);
    return reply.result;
  }
}

/** Token ids as the engine takes them. */
function idBytes(ids: readonly number[]): Uint8Array {
  const bad = ids.find((id) => !Number.isInteger(id) || id < 0 || id > 0x7fffffff);
  if (bad !== undefined) {
    throw new Gpt2Error("invalid-argument", `token id ${String(bad)} is not a whole number from 0 on`);
  }
  return new Uint8Array(Int32Array.from(ids).buffer);
}
