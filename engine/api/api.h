// The functions that WebAssembly exports: the whole of what the browser side can ask of the engine.
//
// C and C++ may include it.
//
// Conventions
//  1. Strings and bytes go in as a pointer and a size in bytes. The caller owns them and may free
//     them (gpt2_free, for memory from gpt2_allocate) when the call returns, unless it says
//     otherwise. Text is UTF-8.
//  2. Functions that return `const char*` return their one reply: null on success without a result,
//     else JSON, zero-terminated: {"result": ...} or {"error":
//     {"code": ..., "message": ...}}. It belongs to the engine and is valid until the next call
//     with the same engine. What is said for each token is no JSON: see Gpt2Output.
//  3. A function whose turn it is not (gpt2_step without gpt2_generate) returns an error.
//  4. Only one thread may use an engine; the engine uses its own threads inside a call.
//  5. Nothing here throws, exits or prints. Any bytes are safe to pass.
//  6. Out of memory is an error like others, with the code "out-of-memory": what the call took is
//     given back, a load, a generation or a scoring that was under way is over, and the engine
//     keeps working with the model that it has.
//  7. A prompt is text, or, where `is_ids`, token ids as int32_t; its size is in bytes. `options`
//     are a JSON object, or empty; a member of an unknown name is an error.
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
  uint32_t index;        // of the continuation that it belongs to
  int32_t id;            // below vocab_size
  float logprob;         // natural logarithm; NaN for the first token of a text that is scored
  uint32_t text_length;  // of its text, in UTF-16 code units, which JavaScript counts
  uint32_t top_count;    // so many of the tokens that follow are alternatives to it
  uint32_t rank;    // by logprob among all tokens, 1: the most probable; 0: of an alternative, or
                    // without a logprob
  uint32_t healed;  // what of its bytes the healed end of the prompt has: 0 none, 1 some, 2 all
} Gpt2Token;

// What a generation or a scoring has to say after a step, or before the first.
typedef struct Gpt2Output {
  const Gpt2Token* tokens;  // [token_count] those of this step
  size_t token_count;
  const char* text;  // [text_size] of the tokens, alternatives among them, one after the other
  size_t text_size;  // bytes
  size_t done;       // tokens that have been prefilled, or scored, or layers: see gpt2_load_step
  size_t total;      // tokens to prefill, or to score, or layers
  size_t is_done;    // 1: there is no further step, else 0
} Gpt2Output;

// Memory of `size` bytes for arguments, or null.
void* gpt2_allocate(size_t size);
void gpt2_free(void* memory);

// An engine that computes on `threads` threads, the caller's among them; null without memory.
Gpt2Engine* gpt2_create(size_t threads);
// Ends its threads, too, and waits for those that have started.
void gpt2_destroy(Gpt2Engine* engine);

// In a browser threads start one after the other, once the caller has returned to its event loop,
// and some may never start. How many run by now, the caller's among them.
size_t gpt2_started_threads(const Gpt2Engine* engine);
// Continues without those that have not started.
void gpt2_drop_unstarted_threads(Gpt2Engine* engine);

// Starts a load from the texts of config.json, vocab.json and merges.txt; the last two may both be
// empty, then only token ids work. What was loaded before is gone. A hub's folder is quantized to 8
// bits as it streams, a converted one is taken as it is. `options`: {"kv": "q8" | "f32",
// "generationConfig": the text of generation_config.json, "tokenizer": {"tokenizer.json",
// "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json": texts of the files that
// the model has}}; where there is a tokenizer.json, no other file is read. A load in which a call
// fails is over, its memory given back: the same error answers until the next begins. No result.
const char* gpt2_load_begin(Gpt2Engine* engine, const char* config, size_t config_size,
                            const char* vocab, size_t vocab_size, const char* merges,
                            size_t merges_size, const char* options, size_t options_size);
// Takes the next bytes of model.safetensors. No result.
const char* gpt2_load_weights(Gpt2Engine* engine, const uint8_t* bytes, size_t size);
// Gives the load a prompt, to be prefilled while the weights come: what gpt2_generate then finds of
// it in the cache is to the bit what it would have computed. A model keeps what fits of it, as
// PromptTokens says; one that is empty takes the last one's place, too. No result.
const char* gpt2_load_prompt(Gpt2Engine* engine, const void* prompt, size_t size, bool is_ids);
// Runs some tokens of it through a layer whose weights are there, if it has not run through that.
// Layers count from the first on: a file that begins with others has them wait. No result;
// gpt2_output has as `done` the layers that the whole prompt has run through, of `total`, and as
// `is_done` whether nothing is left to run until more bytes come. Whoever ends a load before that
// has the prompt prefilled by gpt2_generate.
const char* gpt2_load_step(Gpt2Engine* engine);
// Ends the load. Result: {"config": {...}, "parameters", "weights", "kv", "weightBytes",
// "contextBytes", "threads", "kernels", "hasTokenizer", "defaults": {...}}.
const char* gpt2_load_end(Gpt2Engine* engine);

// Whether the kernels of this build give exact results on this machine; where they do not, take a
// build without relaxed SIMD. See BestKernelsAreExact.
bool gpt2_is_exact(void);

// Measures how many of the engine's threads make a decode step fastest, two steps at a time,
// between other calls and, if need be, in the middle of a generation. Once `isDone`, after some
// twenty steps, it uses so many `threads`; called again, it begins anew. Result: {"threads",
// "isDone"}.
const char* gpt2_tune_threads(Gpt2Engine* engine);

// Starts to split a text, which must stay where it is until the last step, into tokens. `options`:
// {"allowSpecial"}. No result. Takes 3 bytes of memory a byte of its longest word, and half a
// megabyte, at most; 5 bytes where the vocabulary has more than 65,536 tokens.
const char* gpt2_tokenize(Gpt2Engine* engine, const char* text, size_t size, const char* options,
                          size_t options_size);
// Continues it. Result: {"count", "isDone"}; the ids are at gpt2_token_ids.
const char* gpt2_tokenize_step(Gpt2Engine* engine);
// The `count` ids of the last gpt2_tokenize_step, until the next call.
const int32_t* gpt2_token_ids(const Gpt2Engine* engine);

// Result: text; bytes that are not valid UTF-8 become U+FFFD, as TextDecoder has it.
const char* gpt2_detokenize(Gpt2Engine* engine, const int32_t* ids, size_t count);

// Starts a generation. `options`: those of generate/options.h.
// Result: {"promptTokens", "reusedTokens", "healedTokens"}.
const char* gpt2_generate(Gpt2Engine* engine, const void* prompt, size_t size, bool is_ids,
                          const char* options, size_t options_size);
// Continues it: prefills some of the prompt, or writes tokens. No result; see gpt2_output.
const char* gpt2_step(Gpt2Engine* engine);
// How the generation went that is done. Result: {"finishReasons": ["length" | "eos" | "stop"] of
// each continuation, "droppedTokens", "draftedTokens", "acceptedTokens"}.
const char* gpt2_summary(Gpt2Engine* engine);

// Sets the generation under way aside, so that others can run meanwhile. Result: its number.
const char* gpt2_suspend(Gpt2Engine* engine);
// Makes generation `number` the one under way again; it then writes what it would have written.
// No result.
const char* gpt2_resume(Gpt2Engine* engine, uint32_t number);
// Gives up generation `number`, if it is set aside.
void gpt2_discard(Gpt2Engine* engine, uint32_t number);

// After a gpt2_generate with {"maxNewTokens": 0}: runs some tokens of its prompt ahead of a
// generation to come, which then finds in the cache what it begins with of them, to the bit what it
// would have computed. All but the last, whose logits that wants. No result; see gpt2_output.
const char* gpt2_prefill_step(Gpt2Engine* engine);

// What the model makes of the last token of that prompt, once no more of it but this is to be run.
// gpt2_output has as tokens of `index` 0 the `top` likeliest next ones after the embedding, of i
// those after layer i, through ln_f and the head, most probable first; gpt2_attention the attention
// scores of each head of `layer`, from 0 on: their softmax says how much it takes of a token. No
// result.
const char* gpt2_inspect(Gpt2Engine* engine, uint32_t layer, uint32_t top);
// [n_head, tokens of the prompt] of the last successful gpt2_inspect, until the next call.
const float* gpt2_attention(const Gpt2Engine* engine);

// Starts to score a text. `options`: {"stride", "start"}, in tokens: what windows advance by where
// the text is longer than the context, from 1 to n_positions - 1 (half the context), and the index
// of the first token to score, from 0 to their number (0). The tokens before that are not run again
// where the cache holds them, and are no part of what is handed out. No result; gpt2_output has the
// first token of the text where `start` is 0, which nothing gives a logprob to.
const char* gpt2_score(Gpt2Engine* engine, const void* text, size_t size, bool is_ids,
                       const char* options, size_t options_size);
// Continues it: scores some tokens more. No result; see gpt2_output.
const char* gpt2_score_step(Gpt2Engine* engine);

// Output of the last successful gpt2_load_step, gpt2_generate, gpt2_step, gpt2_prefill_step,
// gpt2_inspect, gpt2_score or gpt2_score_step. Never null; what it holds is valid until the next of
// these.
const Gpt2Output* gpt2_output(const Gpt2Engine* engine);

#ifdef __cplusplus
}  // extern "C"
#endif
