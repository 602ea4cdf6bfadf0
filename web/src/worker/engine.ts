// The engine in WebAssembly: wraps engine/api/api.h in JavaScript types. No other file uses pointers.
import type { LanguageTokenizer, TextEnds } from "../model/convert/languages.js";
import { Gpt2Error, WorkerError } from "../shared/errors.js";
import type { Token, TokenLogprob } from "../shared/types.js";
import {
  WasmInstance,
  type Allocator,
  type ModuleFactory,
  type ThreadStart,
} from "../model/wasm-instance.js";
import { toJson } from "./json.js";

type StartFunction = (
  engine: number,
  prompt: number,
  size: number,
  isIds: number,
  options: number,
  optionsSize: number,
) => number;

/** The exports of the module: every function of engine/api/api.h. A test compares them. */
interface EngineModule extends Allocator {
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
  _gpt2_token_places(engine: number): number;
  _gpt2_detokenize(engine: number, ids: number, count: number): number;
  _gpt2_generate: StartFunction;
  _gpt2_step(engine: number): number;
  _gpt2_summary(engine: number): number;
  _gpt2_suspend(engine: number): number;
  _gpt2_resume(engine: number, generation: number): number;
  _gpt2_discard(engine: number, generation: number): void;
  _gpt2_prefill_step(engine: number): number;
  _gpt2_inspect(engine: number, top: number): number;
  _gpt2_attention(engine: number): number;
  _gpt2_set_hooks(engine: number, numbers: number, count: number): number;
  _gpt2_captured(engine: number, count: number): number;
  _gpt2_score: StartFunction;
  _gpt2_score_step(engine: number): number;
  _gpt2_output(engine: number): number;
}

type StartCall = "_gpt2_generate" | "_gpt2_score";
type StepCall = "_gpt2_step" | "_gpt2_prefill_step" | "_gpt2_score_step" | "_gpt2_load_step";
type PlainCall = "_gpt2_load_end" | "_gpt2_tune_threads" | "_gpt2_summary" | "_gpt2_suspend";

/** The state of a generation or a scoring: Gpt2Output of engine/api/api.h. */
export interface Output {
  /** The tokens of the last step. `logprob` is NaN for the first token of a scored text. */
  tokens: Token[];
  /** Tokens that were prefilled or scored, and their total. For a load, layers. */
  done: number;
  total: number;
  isDone: boolean;
}

/** Fields of Gpt2Output and Gpt2Token, 32 bits each. */
const outputWords = 7;
const tokenWords = 7;

/** Bytes of weights that are copied at a time. Copying all at once would take as much memory again. */
const portion = 256 * 1024;

export class Engine {
  private readonly wasm: WasmInstance<EngineModule>;
  private readonly engine: number;
  /** The tokenizer that replaces the engine's own. */
  private tokenizer: LanguageTokenizer | undefined;

  private constructor(wasm: WasmInstance<EngineModule>, threads: number) {
    this.wasm = wasm;

    this.engine = wasm.pointer((module) => module._gpt2_create(threads));
    if (this.engine === 0) throw new Gpt2Error("out-of-memory", "no memory for the engine");
  }

  static async create(
    createModule: ModuleFactory,
    code: WebAssembly.Module,
    memory: WebAssembly.Memory,
    threads: number,
    startThread?: (start: ThreadStart) => void,
  ): Promise<Engine> {
    return new Engine(await WasmInstance.start(createModule, code, memory, startThread), threads);
  }

  /** Whether this build's kernels give exact results in this browser. */
  get isExact(): boolean {
    return this.wasm.call((module) => module._gpt2_is_exact()) !== 0;
  }

  /** Running threads, including this one. */
  get startedThreads(): number {
    return this.wasm.call((module) => module._gpt2_started_threads(this.engine));
  }

  /** Continues without the threads that have not started. */
  dropUnstartedThreads(): void {
    this.wasm.call((module) => module._gpt2_drop_unstarted_threads(this.engine));
  }

  /** Ends its threads and frees its memory. No later call is possible. */
  destroy(): void {
    if (this.wasm.hasEnded) return;
    this.wasm.call((module) => module._gpt2_destroy(this.engine));
    this.wasm.end(new WorkerError("disposed", "the model was disposed of"));
  }

  get memoryBytes(): number {
    return this.wasm.bytes + (this.tokenizer?.memoryBytes ?? 0);
  }

  /** For a model whose load began with this tokenizer's tokens. */
  useTokenizer(tokenizer: LanguageTokenizer): void {
    this.tokenizer = tokenizer;
  }

  /** A prompt in the engine's form: text, or token ids. */
  private prompt(prompt: string | readonly number[], special: boolean, ends: TextEnds) {
    if (!this.tokenizer || typeof prompt !== "string") return prompt;
    return this.tokenizer.encode(prompt, special, ends);
  }

  loadBegin(config: string, vocab: string, merges: string, options: object): void {
    this.wasm.with([config, vocab, merges, toJson(options)], (...texts) =>
      this.wasm.ask((module) => module._gpt2_load_begin(this.engine, ...texts)),
    );
  }

  loadWeights(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += portion) {
      this.wasm.with([bytes.subarray(at, at + portion)], (pointer = 0, size = 0) =>
        this.wasm.ask((module) => module._gpt2_load_weights(this.engine, pointer, size)),
      );
    }
  }

  /** Sets the prompt that `_gpt2_load_step` prefills. */
  loadPrompt(text: string | readonly number[]): void {
    const prompt = this.prompt(text, false, "beginning");
    this.wasm.with([promptBytes(prompt)], (pointer = 0, size = 0) =>
      this.wasm.ask((module) => module._gpt2_load_prompt(this.engine, pointer, size, isIds(prompt))),
    );
  }

  /** Calls without arguments. */
  call(name: PlainCall): unknown {
    return this.wasm.ask((module) => module[name](this.engine));
  }

  /** Runs a step of what was started. */
  step(name: StepCall): Output {
    this.wasm.ask((module) => module[name](this.engine));
    return this.output();
  }

  /** The output of the last step or, before the first, of the start. */
  output(): Output {
    const at = this.wasm.pointer((module) => module._gpt2_output(this.engine));
    const output = this.wasm.words(at, outputWords);
    const [tokensAt = 0, count = 0, textAt = 0, textSize = 0, done = 0, total = 0, isDone] = output;
    const words = new Int32Array(output.buffer, tokensAt, count * tokenWords);
    const floats = new Float32Array(output.buffer, tokensAt, words.length);
    const text = textSize > 0 ? this.wasm.text(textAt, textSize) : "";
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
      const index = words[place] ?? 0;
      const [topCount = 0, rank = 0, healed = 0] = words.subarray(place + 4, place + tokenWords);
      const token: Token = { index, ...read(), rank };
      if (healed > 0) token.healed = healed === 1 ? "some" : "all";
      if (topCount > 0) token.top = Array.from({ length: topCount }, read);
      tokens.push(token);
    }
    return { tokens, done, total, isDone: isDone === 1 };
  }

  /** Inspects the last token of a prefilled prompt. `size` is the number of its attention weights, layers times heads times tokens. */
  inspect(top: number, size: number): { tokens: Token[]; attention: Float32Array } {
    this.wasm.ask((module) => module._gpt2_inspect(this.engine, top));
    const at = this.wasm.pointer((module) => module._gpt2_attention(this.engine));
    const attention = new Float32Array(this.wasm.words(at, size).slice().buffer);
    return { tokens: this.output().tokens, attention };
  }

  /** The `size` values that the last inspection captured. */
  captured(size: number): Float32Array {
    const at = this.wasm.pointer((module) => module._gpt2_captured(this.engine, size));
    if (at === 0 && size > 0)
      throw new WorkerError("worker-died", `the engine has not captured ${size} values`);
    return new Float32Array(this.wasm.words(at, size).slice().buffer);
  }

  /** Resumes a suspended generation. */
  resume(generation: number): void {
    this.wasm.ask((module) => module._gpt2_resume(this.engine, generation));
  }

  /** Discards a suspended generation. */
  discard(generation: number): void {
    this.wasm.call((module) => module._gpt2_discard(this.engine, generation));
  }

  /** Calls that begin with a prompt, text or token ids. `hooks` are the numbers of gpt2_set_hooks for this call. */
  start(
    name: StartCall,
    text: string | readonly number[],
    options: object,
    hooks: readonly number[] = [],
  ): unknown {
    const ends = name === "_gpt2_score" ? "both" : "beginning";
    const prompt = this.prompt(text, allowsSpecial(options), ends);
    const numbers = new Uint8Array(Float64Array.from(hooks).buffer);
    const parts = [promptBytes(prompt), toJson(options), numbers];
    return this.wasm.with(parts, (pointer = 0, size = 0, at = 0, jsonSize = 0, hooksAt = 0) => {
      // Only once nothing else can fail before the call that takes them.
      if (hooks.length > 0)
        this.wasm.ask((module) => module._gpt2_set_hooks(this.engine, hooksAt, hooks.length));
      return this.wasm.ask((module) => module[name](this.engine, pointer, size, isIds(prompt), at, jsonSize));
    });
  }

  /**
   * The ids of a text. If it `isPrompt`, those that a template puts after a text are omitted. With `places`, where each token
   * begins and ends in the text follows its id.
   */
  tokenize(
    text: string,
    {
      allowSpecial,
      isPrompt,
      places,
    }: { allowSpecial?: boolean; isPrompt?: boolean; places?: boolean | undefined },
  ): number[] {
    const options = { allowSpecial, isPrompt };
    if (this.tokenizer) {
      const ends = isPrompt ? "beginning" : "both";
      return this.tokenizer.encode(text, allowsSpecial(options), ends, places);
    }
    return this.wasm.with([text, toJson(options)], (...parts) => {
      const [pointer = 0, size = 0, at = 0, jsonSize = 0] = parts;
      this.wasm.ask((module) => module._gpt2_tokenize(this.engine, pointer, size, at, jsonSize));
      const all: number[] = [];
      for (;;) {
        const step = this.wasm.ask((module) => module._gpt2_tokenize_step(this.engine)) as {
          count: number;
          isDone: boolean;
        };
        const ids = this.wasm.pointer((module) => module._gpt2_token_ids(this.engine));
        const placesAt = this.wasm.pointer((module) => module._gpt2_token_places(this.engine));
        const some = this.wasm.tokens(ids, step.count, places ? placesAt : undefined);
        for (const each of some) all.push(each);
        if (step.isDone) return all;
      }
    });
  }

  detokenize(ids: readonly number[]): string {
    const bytes = idBytes(ids);
    if (this.tokenizer) return this.tokenizer.decode(ids);
    return this.wasm.with([bytes], (pointer = 0) =>
      this.wasm.ask((module) => module._gpt2_detokenize(this.engine, pointer, ids.length)),
    ) as string;
  }
}

/** A prompt in the engine's form: text, or token ids. */
const promptBytes = (prompt: string | readonly number[]) =>
  typeof prompt === "string" ? prompt : idBytes(prompt);
const isIds = (prompt: string | readonly number[]) => (typeof prompt === "string" ? 0 : 1);

const allowsSpecial = (options: object) => "allowSpecial" in options && options.allowSpecial === true;

/** Token ids in the engine's form. */
function idBytes(ids: readonly number[]): Uint8Array {
  const bad = ids.find((id) => !Number.isInteger(id) || id < 0 || id > 0x7fffffff);
  if (bad !== undefined) {
    throw new Gpt2Error("invalid-argument", `token id ${String(bad)} is not a whole number of at least 0`);
  }
  return new Uint8Array(Int32Array.from(ids).buffer);
}
