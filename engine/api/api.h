// The functions that WebAssembly exports: the whole of what the browser side can ask of the engine.
//
// Conventions
//  1. Strings and bytes go in as a pointer and a size in bytes. The caller owns them and may free
//     them (gpt2_free, for memory from gpt2_allocate) when the call returns. Text is UTF-8.
//  2. Functions that return `const char*` return JSON, zero-terminated: {"result": ...} or
//     {"error": {"code": ..., "message": ...}}. It belongs to the engine and is valid until the
//     next call with the same engine.
//  3. A function whose turn it is not (gpt2_step without gpt2_generate) returns an error.
//  4. Only one thread may use an engine; the engine uses its own threads inside a call.
//  5. Nothing here throws, exits or prints. Any bytes are safe to pass.
//  6. Out of memory is an answer, with the code "out-of-memory": what the call took is given back,
//  a
//     load, a generation or a scoring that was under way is over, and the engine goes on working
//     with the model that it has.
//  7. A prompt is text, or, where `is_ids`, token ids as int32_t; its size is in bytes. `options`
//  are
//     a JSON object, or empty; one that does not exist is an error.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

typedef struct Gpt2Engine Gpt2Engine;

// Memory of `size` bytes for arguments, or null.
void* gpt2_allocate(size_t size);
void gpt2_free(void* memory);

// SHA-256 of `bytes` into digest [32 bytes], for pages that have no crypto.subtle.
void gpt2_sha256(const uint8_t* bytes, size_t size, uint8_t* digest);

// An engine that computes on `threads` threads, the caller's among them; null without memory.
Gpt2Engine* gpt2_create(size_t threads);
// Ends its threads, too, and waits for those that have started.
void gpt2_destroy(Gpt2Engine* engine);

// In a browser threads start one after the other, once the caller has returned to its event loop,
// and some perhaps never. How many run by now, the caller's among them.
size_t gpt2_started_threads(const Gpt2Engine* engine);
// Goes on without those that have not started.
void gpt2_drop_unstarted_threads(Gpt2Engine* engine);

// Starts a load from the texts of config.json, vocab.json and merges.txt; the last two may both be
// empty, then only token ids work. What was loaded before is gone. A hub's folder is quantized to 8
// bits as it streams, a converted one is taken as it is. `options`: {"kv": "q8" | "f32"}. A load in
// which a call fails is over, its memory given back: the same error answers until the next begins.
// Result: {}.
const char* gpt2_load_begin(Gpt2Engine* engine, const char* config, size_t config_size,
                            const char* vocab, size_t vocab_size, const char* merges,
                            size_t merges_size, const char* options, size_t options_size);
// Takes the next bytes of model.safetensors. Result: {}.
const char* gpt2_load_weights(Gpt2Engine* engine, const uint8_t* bytes, size_t size);
// Ends the load. Result: what gpt2_info gives.
const char* gpt2_load_end(Gpt2Engine* engine);

// Whether this build computes right on this machine; where it does not, take one without relaxed
// SIMD. See BestKernelsAreExact.
bool gpt2_is_exact(void);

// Result: {"config": {...}, "parameters", "weightBytes", "memoryBytes", "threads", "kernels", ...}.
const char* gpt2_info(Gpt2Engine* engine);

// Measures how many of the engine's threads make a decode step fastest, and goes on with so many.
// Takes some twenty steps. Result: {"threads"}.
const char* gpt2_tune_threads(Gpt2Engine* engine);

// Starts to split a text, which must stay where it is until the last step, into tokens. `options`:
// {"allowSpecial"}. Result: {}. Takes 3 bytes of memory a byte of its longest word, and half a
// megabyte, at most; 5 bytes where the vocabulary has more than 65,536 tokens.
const char* gpt2_tokenize(Gpt2Engine* engine, const char* text, size_t size, const char* options,
                          size_t options_size);
// Goes on with it. Result: {"count", "isDone"}; the ids are at gpt2_token_ids.
const char* gpt2_tokenize_step(Gpt2Engine* engine);
// The `count` ids of the last gpt2_tokenize_step, until the next call.
const int32_t* gpt2_token_ids(const Gpt2Engine* engine);

// Result: text; bytes that are no UTF-8 become U+FFFD.
const char* gpt2_detokenize(Gpt2Engine* engine, const int32_t* ids, size_t count);

// Starts a generation. `options`: those of generate/options.h.
// Result: {"promptTokens", "reusedTokens", "readTokens", "totalTokens", "isDone"}, and once that is
// true {"finishReasons": ["length" | "eos" | "stop"] of each continuation, "droppedTokens",
// "draftedTokens", "acceptedTokens"}.
const char* gpt2_generate(Gpt2Engine* engine, const void* prompt, size_t size, bool is_ids,
                          const char* options, size_t options_size);
// Goes on with it: reads some of the prompt, or writes. Result: {"tokens": [{"index" (of the
// continuation), "id", "text", "logprob", "top"?: [{"id", "text", "logprob"}]}]} and from
// "readTokens" on what gpt2_generate gives.
const char* gpt2_step(Gpt2Engine* engine);

// Sets the generation under way aside, so that others can run meanwhile. Result: its number.
const char* gpt2_suspend(Gpt2Engine* engine);
// Makes generation `number` the one under way again; it then writes what it would have written.
// Result: {}.
const char* gpt2_resume(Gpt2Engine* engine, uint32_t number);
// Forgets generation `number`, if it is set aside. Result: {}.
const char* gpt2_discard(Gpt2Engine* engine, uint32_t number);

// Starts to score a text. `options`: {"stride"}. Result: {"done", "total", "tokens": [{"id",
// "text", "logprob"}]} with the first token, whose logprob is null.
const char* gpt2_score(Gpt2Engine* engine, const void* text, size_t size, bool is_ids,
                       const char* options, size_t options_size);
// Goes on with it, until "done" is "total". Result: the same with the tokens that it has scored.
const char* gpt2_score_step(Gpt2Engine* engine);

}  // extern "C"
