// The functions of the WebAssembly module that converts models. A page downloads it only to convert
// one. The conventions of api.h apply, with Gpt2Converter instead of the engine.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Gpt2Converter Gpt2Converter;

// Creates a converter; null without memory.
Gpt2Converter* gpt2_converter_create(void);
void gpt2_converter_destroy(Gpt2Converter* converter);

// Adds a torch.save file (pytorch_model.bin or one of several) to the next conversion, in this
// order. `name` is for messages; `file_size` is in bytes, or negative if unknown. Result: {"from",
// "size"}, the bytes of the file that describe its contents.
const char* gpt2_converter_torch_file(Gpt2Converter* converter, const char* name, size_t name_size,
                                      double file_size);

// Passes the requested bytes, which may be fewer only at the end of the file. Result: the next
// request, as above; null when everything is known.
const char* gpt2_converter_torch_part(Gpt2Converter* converter, const uint8_t* bytes, size_t size);
// Adds a LoRA adapter to the next conversion: the complete contents of adapter_config.json and
// adapter_model.safetensors. It is merged into the model's floats before they are quantized,
// multiplied by `weight` (finite). Several adapters are merged in the order of the calls. An error
// removes all of them. No result.
const char* gpt2_converter_adapter(Gpt2Converter* converter, const char* config, size_t config_size,
                                   const uint8_t* bytes, size_t size, double weight);

// Starts a conversion to `weights`: "f32", "f16", "q8" or "q4". It replaces a conversion that is
// under way. `config` is the text of config.json, or empty if a GGUF file will be fed. If
// model.safetensors is in several files, `heads` holds the head of each file, in the order of
// feeding: all bytes before its tensors. Else it is empty. If files of torch.save were added
// before, they will be fed in that order, each from its first byte to its last. No result.
const char* gpt2_converter_begin(Gpt2Converter* converter, const char* config, size_t config_size,
                                 const uint8_t* heads, size_t heads_size, const char* weights,
                                 size_t weights_size);

// Takes the next bytes, which must stay in place until gpt2_converter_step has consumed them. No
// result.
const char* gpt2_converter_feed(Gpt2Converter* converter, const uint8_t* bytes, size_t size);

// Continues with the bytes that were fed. Call it until gpt2_converter_output is empty. No result.
const char* gpt2_converter_step(Gpt2Converter* converter);

// The next bytes of the converted model.safetensors, after those of the step before.
typedef struct Gpt2Bytes {
  const uint8_t* bytes;
  size_t size;
} Gpt2Bytes;

// The output of the last successful gpt2_converter_step, until the next call. Never null.
const Gpt2Bytes* gpt2_converter_output(const Gpt2Converter* converter);

// The files beside the weights. Result: null until everything before the first tensor has
// arrived. Then {"config", "vocab", "merges", "tokenizerConfig", "weightBytes"}: the texts of the
// files, and the size of model.safetensors. "config" always has text; the others have text only for
// a GGUF file.
const char* gpt2_converter_folder(Gpt2Converter* converter);

// Reads a tokenizer for a model of `vocab_size` tokens. `files` is a JSON object of file names and
// texts. Result: {"vocab", "merges", "rules"} for gpt2_load_begin: the first two as texts, "rules"
// as the member of "tokenizer".
const char* gpt2_converter_tokenizer(Gpt2Converter* converter, const char* files, size_t files_size,
                                     size_t vocab_size);

// Ends the conversion; an error if bytes are missing. No result.
const char* gpt2_converter_end(Gpt2Converter* converter);

#ifdef __cplusplus
}  // extern "C"
#endif
