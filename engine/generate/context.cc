#include "engine/generate/context.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <string>

#include "engine/generate/not_finite.h"
#include "engine/generate/prompt_tokens.h"
#include "engine/kernels/scalar_math.h"

namespace gpt2 {

Result<Context> Context::Create(const Weights& weights, const Compute& compute,
                                KvFormat kv_format) {
  Context context(weights, compute, kv_format);
  GPT2_TRY(context.SetSequences(1));
  GPT2_ASSIGN(context.scratch_, Scratch::Create(weights.config));
  GPT2_ASSIGN(context.logits_,
              AlignedBuffer<float>::Create(kLogitRows * LogitsStride(weights.config), "logits"));
  return context;
}

std::size_t Context::bytes() const {
  std::size_t bytes = scratch_.bytes() + logits_.bytes();
  for (const Sequence& sequence : sequences_) bytes += sequence.bytes();
  return bytes;
}

Status Context::CheckIds(std::span<const std::int32_t> ids) const {
  return CheckTokenIds(config(), ids);
}

Status Context::SetSequences(std::size_t count) {
  assert(count >= 1);
  while (sequences_.size() > count) sequences_.pop_back();
  while (sequences_.size() < count) {
    GPT2_ASSIGN(Sequence sequence, Sequence::Create(config(), kv_format_));
    sequences_.push_back(std::move(sequence));
  }
  return Done{};
}

std::size_t Context::RunNext(Sequence& sequence, std::size_t most, const Trace* trace) {
  const std::size_t first = sequence.cached();
  const std::size_t count = std::min({most, kMaxBatch, sequence.pending()});
  for (std::size_t i = 0; i < count; ++i) {
    rows_[i] = {sequence.window()[first + i], first + i, &sequence.cache()};
  }
  Forward(*weights_, compute_, {rows_.data(), count}, scratch_, trace);
  sequence.Advance(count);
  return count;
}

void Context::RunOneEach(std::span<Sequence* const> sequences) {
  assert(sequences.size() <= kMaxBatch);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    Sequence& sequence = *sequences[i];
    const std::size_t position = sequence.cached();
    rows_[i] = {sequence.window()[position], position, &sequence.cache()};
  }
  Forward(*weights_, compute_, {rows_.data(), sequences.size()}, scratch_);
  for (Sequence* sequence : sequences) sequence->Advance(1);
}

Result<MatView<const float>> Context::Logits(std::size_t first, std::size_t count) {
  assert(count <= kLogitRows);
  const MatView<float> logits{logits_.data(), count, config().vocab_size, LogitsStride(config())};
  const MatView<const float> normed{scratch_.normed.Row(first).data(), count, scratch_.normed.cols,
                                    scratch_.normed.stride};
  ComputeLogits(*weights_, compute_, normed, scratch_, logits);
  for (std::size_t row = 0; row < count; ++row) {
    if (!AllFinite(logits.Row(row))) return NotFinite(first + row);
  }
  return MatView<const float>(logits);
}

// Runs the row once more, alone, to see where it goes wrong.
Error Context::NotFinite(std::size_t row) {
  std::string tensor;
  const auto watch = [&tensor](const std::string& stage, MatView<const float> x) {
    if (tensor.empty() && !AllFinite(x.Row(0))) tensor = TensorBefore(stage);
  };
  const Trace trace = watch;
  const BatchToken& bad = rows_[row];
  Forward(*weights_, compute_, {&bad, 1}, scratch_, &trace);
  if (tensor.empty()) tensor = config().tie_word_embeddings ? "wte.weight" : "lm_head.weight";
  return Error{ErrorCode::kCorrupt, "the logits after position " + std::to_string(bad.position) +
                                        " (token id " + std::to_string(bad.id) +
                                        ") are not finite; the likely cause is tensor \"" + tensor +
                                        "\": the first numbers that are not finite come from it"};
}

// In blocks, which the threads share out. Their size depends on the vocabulary alone, and their
// sums are added in order: the result does not depend on the threads.
LogSoftmax::LogSoftmax(const Compute& compute, std::span<const float> logits) {
  constexpr std::size_t kMostBlocks = 32;
  constexpr std::size_t kLeastBlock = 2048;
  const std::size_t size = std::max(kLeastBlock, CeilDiv(logits.size(), kMostBlocks));
  const std::size_t blocks = CeilDiv(logits.size(), size);
  std::array<SoftmaxSums, kMostBlocks> sums;
  compute.pool->ParallelFor(blocks, /*grain=*/2, [&](std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t first = block * size;
      const std::size_t count = std::min(size, logits.size() - first);
      sums[block] = compute.kernels->SoftmaxStats(logits.data() + first, count);
    }
  });
  float maximum = sums[0].maximum;
  for (std::size_t i = 1; i < blocks; ++i) maximum = std::max(maximum, sums[i].maximum);
  double sum = 0;
  for (std::size_t i = 0; i < blocks; ++i) {
    sum += static_cast<double>(sums[i].sum) * static_cast<double>(Exp(sums[i].maximum - maximum));
  }
  log_sum_ = static_cast<double>(maximum) + Log(sum);
}

}  // namespace gpt2
