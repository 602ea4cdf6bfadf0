// The functions of a separate, small WebAssembly module: tokenizers with other rules than GPT-2's
// (engine/languages). Only pages whose model needs it download it. The conventions of api.h apply,
// with Gpt2Languages instead of the engine.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Gpt2Languages Gpt2Languages;

// Creates an object without a tokenizer; null without memory.
Gpt2Languages* gpt2_languages_create(void);
void gpt2_languages_destroy(Gpt2Languages* languages);

// Reads a tokenizer. `files` is a JSON object of file names and texts. Result: the value for the
// member "tokens" of "tokenizer" in gpt2_load_begin.
const char* gpt2_languages_read(Gpt2Languages* languages, const char* files, size_t files_size,
                                size_t vocab_size);

// Converts a text to ids. With `special`, special tokens in the text become their ids. `ends` is 1
// to add the tokens at the start of a text that continues, 2 to add those at its end, too. Result:
// {"count"}; gpt2_languages_ids has the ids. With `places`, gpt2_languages_places has the numbers
// of gpt2_token_places.
const char* gpt2_languages_encode(Gpt2Languages* languages, const char* text, size_t size,
                                  int32_t special, int32_t ends, int32_t places);
const int32_t* gpt2_languages_ids(const Gpt2Languages* languages);
const uint32_t* gpt2_languages_places(const Gpt2Languages* languages);

// Result: the text of `ids`.
const char* gpt2_languages_decode(Gpt2Languages* languages, const int32_t* ids, size_t count);

#ifdef __cplusplus
}  // extern "C"
#endif
