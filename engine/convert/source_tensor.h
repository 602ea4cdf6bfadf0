// The tensors of a file to convert, in the order of the file. The header and config.json suffice to
// find them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/convert/block_types.h"
#include "engine/format/config_json.h"
#include "engine/format/safetensors.h"
#include "engine/model/weights.h"

namespace gpt2 {

// Limits on what a file may claim. A GPT-2 of kMostLayers layers (config_json.h) has fewer
// tensors, also with the masks of old files.
inline constexpr std::size_t kMostTensors = std::size_t{1} << 14;
inline constexpr std::size_t kMostNameBytes = 256;  // ggml's GGML_MAX_NAME is 64

// The float type of a tensor in a safetensors file: kF32, kF16 or kBF16.
BlockType FloatType(DType dtype);

// One tensor of a file. Its bytes are read in bands: a row, or the kGroup rows of a transposed
// matrix that form a group of inputs of every output.
struct SourceTensor {
  const TensorSpec* spec = nullptr;  // borrowed; null: its bytes are skipped
  BlockType type = BlockType::kF32;
  bool is_transposed = false;  // a matrix that is stored as [in, out]
  std::size_t rows = 0;        // as stored
  std::size_t row_bytes = 0;   // 0: no file has it; an adapter supplies it
  std::size_t band_rows = 1;
  std::size_t file = 0;  // the index of its file
};

// The most tensors that the files of a published model `specs` can have: its parameters, and the
// buffers and heads that a checkpoint may add.
std::size_t MostSourceTensors(std::span<const TensorSpec> specs, const Config& config);

// The header of a safetensors file, its bytes before the tensors, from the start of `bytes`.
Result<std::string_view> SafetensorsHead(std::string_view bytes, std::size_t most_tensors);

// Appends the tensors of the safetensors files whose heads lie one after the other in `heads`, in
// their order. `head_ends` holds the end of each head. Fails, naming the tensor, if one is unknown,
// missing, duplicate or not what config.json says. Makes `specs` those of the config's model, as
// SettleHead has them, and borrows from them. Puts the other heads of the files into `config`.
Status ReadSafetensorsTensors(std::string_view heads, std::span<const std::size_t> head_ends,
                              ModelConfig& config, std::vector<TensorSpec>& specs,
                              std::vector<SourceTensor>& tensors);

}  // namespace gpt2
