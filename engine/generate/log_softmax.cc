#include "engine/generate/log_softmax.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "engine/base/aligned_buffer.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/scalar_math.h"
#include "engine/model/forward.h"

namespace gpt2 {
namespace {

// The smallest block of logits: starting a loop on the threads costs as much as some hundred exp.
constexpr std::size_t kLeastBlock = 2048;
// More blocks than threads, so that all finish together; their sums are on the stack.
constexpr std::size_t kMostBlocks = 32;

}  // namespace

// Computed in blocks, which the threads share. The size of blocks depends on the vocabulary alone,
// and their sums are added in order, so the result does not depend on the threads.
LogSoftmax::LogSoftmax(const Compute& compute, std::span<const float> logits) {
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
