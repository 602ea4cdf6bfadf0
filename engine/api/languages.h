// The functions of a separate, small WebAssembly module: tokenizers with other rules than GPT-2's
// (engine/languages). Only models that need it download it. The conventions of api.h hold, with
// Gpt2Languages in the engine's place.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Gpt2Languages Gpt2Languages;

// Null without memory.
Gpt2Languages* gpt2_languages_create(void);
void gpt2_languages_destroy(Gpt2Languages* languages);

// Reads a tokenizer. `files` is a JSON object of the texts of its files, by their names. Result:
// what gpt2_load_begin takes as the member "tokens" of "tokenizer".
const char* gpt2_languages_read(Gpt2Languages* languages, const char* files, size_t files_size,
                                size_t vocab_size);

// Converts a text to ids. With `special`, special tokens in the text become their ids. `ends` is 1
// to add the tokens before a text that goes on, 2 to add those behind it, too. Result: {"count"},
// of gpt2_languages_ids.
const char* gpt2_languages_encode(Gpt2Languages* languages, const char* text, size_t size,
                                  int32_t special, int32_t ends);
const int32_t* gpt2_languages_ids(const Gpt2Languages* languages);

// Result: the text of `ids`.
const char* gpt2_languages_decode(Gpt2Languages* languages, const int32_t* ids, size_t count);

#ifdef __cplusplus
}  // extern "C"
#endif
