// The functions that WebAssembly exports: the complete interface between the engine and the
// browser.
//
// Both C and C++ can include this file.
//
// Conventions
//  1. Strings and bytes are passed as a pointer and a size in bytes. The caller owns them. Unless a
//     function says otherwise, the caller may free them when the call returns (gpt2_free of
//     memory.h, for memory from gpt2_allocate). Text is UTF-8.
//  2. Functions that return `const char*` return null on success without a result. Otherwise they
//     return zero-terminated JSON: {"result": ...} or {"error": {"code": ..., "message": ...}}. It
//     belongs to the engine and is valid until the next call with the same engine. Results for
//     single tokens are not JSON: see Gpt2Output.
//  3. A function that is called out of order (gpt2_step without gpt2_generate) returns an error.
//  4. Only one thread may use an engine. The engine uses its own threads inside a call.
//  5. No function throws, exits or prints. Any bytes are safe to pass.
//  6. Out of memory is an error with the code "out-of-memory". The call frees what it has taken,
//     and ends a load, a generation or a scoring that was under way. The engine keeps working with
//     the model that it has.
//  7. A prompt is text, or token ids as int32_t if `is_ids`. Its size is in bytes. `options` is a
//     JSON object, or empty; an unknown member is an error.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Gpt2Engine Gpt2Engine;

// A token that was generated or scored, or an alternative to one.
typedef struct Gpt2Token {
  uint32_t index;        // the continuation that it belongs to
  int32_t id;            // below vocab_size
  float logprob;         // natural logarithm; NaN for the first token of a text that is scored
  uint32_t text_length;  // length of its text in UTF-16 code units, as in JavaScript
  uint32_t top_count;    // number of following tokens in the array that are alternatives to it
  uint32_t rank;         // by logprob among all tokens; 1: the most probable; 0: an alternative, or
                         // without a logprob
  uint32_t
      healed;  // how many of its bytes repeat the healed end of the prompt: 0 none, 1 some, 2 all
} Gpt2Token;

// The output of a step of a generation, of a scoring or of a load.
typedef struct Gpt2Output {
  const Gpt2Token* tokens;  // [token_count] the tokens of this step
  size_t token_count;
  const char* text;  // [text_size] the texts of all these tokens, concatenated
  size_t text_size;  // bytes
  size_t done;       // tokens prefilled or scored so far, or layers: see gpt2_load_step
  size_t total;      // tokens to prefill or to score, or layers
  size_t is_done;    // 1 if no step is left, else 0
} Gpt2Output;

// Creates an engine that computes on `threads` threads, including the caller's. Returns null
// without memory.
Gpt2Engine* gpt2_create(size_t threads);
// Frees an engine and ends its threads. Waits for the threads that have started.
void gpt2_destroy(Gpt2Engine* engine);

// The number of running threads, including the caller's. In a browser, threads start one after
// another once the caller has returned to its event loop, and some may never start.
size_t gpt2_started_threads(const Gpt2Engine* engine);
// Continues without the threads that have not started.
void gpt2_drop_unstarted_threads(Gpt2Engine* engine);

// Starts a load from the texts of config.json, vocab.json and merges.txt. The last two may both be
// empty; then only token ids work. The model that was loaded before is freed. The model must be
// converted, as by gpt2_converter_begin or `npx gpt2-wasm convert`: it keeps its format.
//
// `options`: {"kv": "q8" | "f32", "generationConfig": text, "tokenizer": object}.
// "generationConfig" is the text of generation_config.json. "tokenizer" has "rules", which
// gpt2_converter_tokenizer reads from other files than vocab.json and merges.txt. Or it has
// "tokens", the result of gpt2_languages_read.
//
// If a call of a load fails, the load is over and its memory is freed. Further calls return the
// same error until the next load begins. No result.
const char* gpt2_load_begin(Gpt2Engine* engine, const char* config, size_t config_size,
                            const char* vocab, size_t vocab_size, const char* merges,
                            size_t merges_size, const char* options, size_t options_size);
// Takes the next bytes of model.safetensors. No result.
const char* gpt2_load_weights(Gpt2Engine* engine, const uint8_t* bytes, size_t size);
// Sets a prompt that is prefilled while the weights arrive. gpt2_generate then finds it in the
// cache, bit-identical to its own prefill. A prompt that is too long is cut as PromptTokens
// describes. An empty prompt also replaces an earlier one. No result.
const char* gpt2_load_prompt(Gpt2Engine* engine, const void* prompt, size_t size, bool is_ids);
// Runs some tokens of that prompt through the next layer, if its weights have arrived. Layers run
// in order: if a file begins with other layers, these wait. No result. In gpt2_output, `done` is
// the number of layers, of `total`, that the whole prompt has passed. `is_done` says that nothing
// can run until more bytes arrive. If the load ends earlier, gpt2_generate prefills the rest.
const char* gpt2_load_step(Gpt2Engine* engine);
// Ends the load. Result: {"config": {...}, "parameters", "weights", "kv", "weightBytes",
// "contextBytes", "threads", "kernels", "hasTokenizer", "defaults": {...}}.
const char* gpt2_load_end(Gpt2Engine* engine);

// Whether the kernels of this build give exact results on this machine. If not, use a build without
// relaxed SIMD. See BestKernelsAreExact.
bool gpt2_is_exact(void);

// Measures how many of the engine's threads make a decode step fastest. Each call measures two
// steps or a few more, and may come between other calls, even during a generation. About twenty
// calls are needed. Once `isDone`, the engine uses `threads` threads; another call starts a new
// measurement. Without `isMeasured`, the clock is too coarse, and all threads are used. Result:
// {"threads", "isDone", "isMeasured"}.
const char* gpt2_tune_threads(Gpt2Engine* engine);

// Starts to split a text into tokens. The text must stay in place until the last step. `options`:
// {"allowSpecial", "isPrompt"}; a prompt gets no token that a template puts after a text. No
// result. It takes at most half a megabyte of memory, and 3 bytes for each byte of the longest
// word. With more than 65,536 tokens in the vocabulary, these are 5 bytes.
const char* gpt2_tokenize(Gpt2Engine* engine, const char* text, size_t size, const char* options,
                          size_t options_size);
// Continues the split. Result: {"count", "isDone"}; gpt2_token_ids and gpt2_token_places have the
// tokens.
const char* gpt2_tokenize_step(Gpt2Engine* engine);
// The `count` ids of the last gpt2_tokenize_step, valid until the next call.
const int32_t* gpt2_token_ids(const Gpt2Engine* engine);
// Where each of these tokens begins and ends in the text, in UTF-16 code units: two numbers for
// each token. A token that is a part of a character has the place of all of it. A token that a
// template adds has a place of no characters.
const uint32_t* gpt2_token_places(const Gpt2Engine* engine);

// Result: text. Bytes that are not valid UTF-8 become U+FFFD, as in TextDecoder.
const char* gpt2_detokenize(Gpt2Engine* engine, const int32_t* ids, size_t count);

// Starts a generation. `options`: those of generate/options.h.
// Result: {"promptTokens", "reusedTokens", "healedTokens"}.
const char* gpt2_generate(Gpt2Engine* engine, const void* prompt, size_t size, bool is_ids,
                          const char* options, size_t options_size);
// Continues the generation: prefills a part of the prompt, or writes tokens. No result; see
// gpt2_output.
const char* gpt2_step(Gpt2Engine* engine);
// The figures of a finished generation. Result: {"finishReasons": ["length" | "eos" | "stop"], one
// for each continuation, "droppedTokens", "draftedTokens", "acceptedTokens"}.
const char* gpt2_summary(Gpt2Engine* engine);

// Suspends the current generation, so that others can run. Result: its number.
const char* gpt2_suspend(Gpt2Engine* engine);
// Continues generation `number`. It writes the same text as without the interruption. No result.
const char* gpt2_resume(Gpt2Engine* engine, uint32_t number);
// Frees generation `number` if it is suspended.
void gpt2_discard(Gpt2Engine* engine, uint32_t number);

// After a gpt2_generate with {"maxNewTokens": 0}: runs some tokens of its prompt, in advance of the
// next generation. That one finds them in the cache, bit-identical to its own prefill. The last
// token is left out, because the generation needs its logits. No result; see gpt2_output.
const char* gpt2_prefill_step(Gpt2Engine* engine);

// Runs the last token of that prompt, after gpt2_prefill_step has run all others. In gpt2_output,
// the tokens of `index` 0 are the `top` most probable next tokens after the embedding. Those of
// `index` i are the same after layer i. All pass through ln_f and the head, and the most probable
// comes first.
//
// gpt2_attention has the weight that each head of each layer gives to each token. No result.
const char* gpt2_inspect(Gpt2Engine* engine, uint32_t top);
// [n_layer, n_head, tokens of the prompt] of the last successful gpt2_inspect, until the next call.
const float* gpt2_attention(const Gpt2Engine* engine);

// Sets what the next gpt2_generate or gpt2_score changes in the forward pass (Changes), and what a
// gpt2_inspect after it has captured. `numbers` [count] has three lists, each after its length: the
// changes, the places to capture, and the positions to capture. No positions mean all.
//
// A place is its number in Place, then its layer. The captured values take at most 256 MiB. A
// change is a place, a head, a column, the number of its kind, its factor, and two lists: its
// positions and its values. Head or column -1 means all. No result.
const char* gpt2_set_hooks(Gpt2Engine* engine, const double* numbers, size_t count);
// The `count` captured values, one place after another, until the next request with hooks. Null if
// there are not so many.
const float* gpt2_captured(const Gpt2Engine* engine, size_t count);

// Starts to score a text. `options`: {"stride", "start"}, both in tokens. A text that is longer
// than the context is scored in windows that advance by "stride": 1 to n_positions - 1, by default
// half the context. "start" is the index of the first token to score: 0, the default, to their
// number.
//
// Tokens before "start" are not returned, and not run again if the cache holds them. No result. If
// "start" is 0, gpt2_output has the first token of the text, which has no logprob.
const char* gpt2_score(Gpt2Engine* engine, const void* text, size_t size, bool is_ids,
                       const char* options, size_t options_size);
// Continues the scoring by some tokens. No result; see gpt2_output.
const char* gpt2_score_step(Gpt2Engine* engine);

// The output of the last successful gpt2_load_step, gpt2_generate, gpt2_step, gpt2_prefill_step,
// gpt2_inspect, gpt2_score or gpt2_score_step. Never null. It is valid until the next of these.
const Gpt2Output* gpt2_output(const Gpt2Engine* engine);

#ifdef __cplusplus
}  // extern "C"
#endif
