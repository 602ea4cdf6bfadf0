#include "engine/generate/early_prefill.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "engine/base/random.h"
#include "engine/model/weights.h"
#include "tests/support/test_model.h"
#include "tests/support/threads.h"

namespace gpt2::testing {
namespace {

// A model whose context is longer than two batches.
Config LongConfig() {
  Config config;
  config.n_embd = 48;
  config.n_head = 3;
  config.n_layer = 3;
  config.n_inner = 100;
  config.n_positions = 150;
  config.vocab_size = 211;
  return config;
}

// Weights of -0.5 to 0.5.
std::unique_ptr<Weights> RandomWeights(const Config& config, WeightFormat format) {
  auto weights = std::make_unique<Weights>(config);
  Random random(7);
  for (const TensorSpec& spec : TensorSpecs(config)) {
    EXPECT_TRUE(Allocate(spec, format, *weights).ok());
    const TensorRef tensor = Bind(spec, *weights);
    std::vector<float> row(spec.cols);
    for (std::size_t r = 0; r < spec.rows; ++r) {
      for (float& x : row) x = static_cast<float>(random.NextUnit() - 0.5);
      if (spec.is_matrix()) {
        tensor.matrix->SetRow(r, row);
      } else {
        std::copy(row.begin(), row.end(), tensor.floats->data() + r * spec.cols);
      }
    }
  }
  return weights;
}

std::vector<std::int32_t> Ids(std::size_t count, std::size_t vocab_size) {
  std::vector<std::int32_t> ids(count);
  for (std::size_t i = 0; i < count; ++i) {
    ids[i] = static_cast<std::int32_t>((i * 37 + 11) % vocab_size);
  }
  return ids;
}

// The logits after the last token of `ids` and after two more, of a context that may have cached
// the first.
std::vector<float> LastLogits(Context& context, const std::vector<std::int32_t>& ids) {
  Sequence& sequence = context.sequence();
  sequence.SetWindow(ids);
  std::vector<float> all;
  for (int more = 0; more < 3; ++more) {
    while (!sequence.is_current()) {
      const Pass pass = context.Prefill(sequence, kMaxBatch);
      if (!sequence.is_current()) continue;
      const auto logits = pass.Logits(pass.tokens() - 1, 1).value().Row(0);
      all.insert(all.end(), logits.begin(), logits.end());
    }
    if (sequence.window().size() == context.config().n_positions) break;
    sequence.Push(more);
  }
  return all;
}

TEST(EarlyPrefill, IsBitIdenticalToAPrefill) {
  const Config config = LongConfig();
  ThreadPool pool(kHasThreads ? 3 : 1);
  const Compute compute{&BestKernels(), &pool};
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kQ8}) {
    const auto weights = RandomWeights(config, format);
    for (const KvFormat kv : {KvFormat::kF32, KvFormat::kQ8}) {
      for (const std::size_t length : {1u, 2u, 63u, 64u, 65u, 128u, 129u, 150u}) {
        const auto ids = Ids(length, config.vocab_size);
        auto plain = Context::Create(*weights, compute, kv);
        auto early = EarlyPrefill::Create(*weights, compute, kv, ids);
        ASSERT_TRUE(plain.ok() && early.ok());
        std::size_t steps = 0;
        for (; early.value().layers() < config.n_layer; ++steps) early.value().Step();
        EXPECT_EQ(steps, config.n_layer * ((length + kMaxBatch - 1) / kMaxBatch));
        Context context = early.value().TakeContext();
        EXPECT_EQ(context.sequence().cached(), length);
        EXPECT_EQ(LastLogits(context, ids), LastLogits(plain.value(), ids))
            << WeightFormatName(format) << " " << KvFormatName(kv) << " " << length;
      }
    }
  }
}

}  // namespace
}  // namespace gpt2::testing
