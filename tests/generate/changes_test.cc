// Captures and changes at each place of the forward pass, compared with the float64 reference.
#include "engine/generate/changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/generate/session.h"
#include "tests/support/reference_model.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/session_steps.h"
#include "tests/support/test_model.h"
#include "tests/support/threads.h"

namespace gpt2::testing {
namespace {

using Rows = std::vector<std::vector<float>>;

const std::vector<std::string> kPlaces = {"embed",
                                          "pos_embed",
                                          "blocks.*.resid_pre",
                                          "blocks.*.ln1.normalized",
                                          "blocks.*.attn.q",
                                          "blocks.*.attn.k",
                                          "blocks.*.attn.v",
                                          "blocks.*.attn.scores",
                                          "blocks.*.attn.pattern",
                                          "blocks.*.attn.z",
                                          "blocks.*.attn_out",
                                          "blocks.*.resid_mid",
                                          "blocks.*.ln2.normalized",
                                          "blocks.*.mlp.pre",
                                          "blocks.*.mlp.post",
                                          "blocks.*.mlp_out",
                                          "blocks.*.resid_post",
                                          "ln_final.normalized",
                                          "logits"};

std::vector<LayerPlace> PlacesOf(const std::vector<std::string>& names, std::size_t layers) {
  std::vector<LayerPlace> places;
  for (const std::string& name : names) {
    const auto named = PlacesNamed(name, layers);
    EXPECT_TRUE(named.ok()) << name;
    if (!named.ok()) continue;
    places.insert(places.end(), named.value().begin(), named.value().end());
  }
  return places;
}

class ChangesEach : public ::testing::TestWithParam<std::string> {
 protected:
  std::string folder() const { return TinyModelFolder(GetParam()); }

  std::shared_ptr<Changes> Make(std::vector<Change> changes,
                                const std::vector<std::string>& captures = {},
                                std::vector<std::size_t> positions = {}) const {
    return Changes::Create(model.context->config(), std::move(changes),
                           PlacesOf(captures, model.context->config().n_layer),
                           std::move(positions), ids.size())
        .value();
  }

  // The logits of the text with `hooks`.
  Rows LogitsWith(TestModel& of, std::shared_ptr<Hooks> hooks, std::size_t chunk = 5) const {
    of.context->SetHooks(std::move(hooks));
    return of.Logits(ids, chunk);
  }
  Rows LogitsWith(std::shared_ptr<Hooks> hooks) { return LogitsWith(model, std::move(hooks)); }

  const Golden golden{folder()};
  const std::vector<std::int32_t> ids{golden.ids.begin(), golden.ids.begin() + 12};
  TestModel model{folder(), WeightFormat::kF32, KvFormat::kF32};
  const ModelFiles files{GetParam()};
  const ReferenceWeights weights = Widen(ReadFileTensors(files.file));
};

INSTANTIATE_TEST_SUITE_P(Kinds, ChangesEach,
                         ::testing::Values("tied", "relu-by-layer", "silu-unscaled",
                                           "bigcode-one-key-head", "bigcode-interleaved"),
                         TestNameOf);

TEST_P(ChangesEach, CapturesEveryPlaceAsTheReferenceComputesIt) {
  const auto plain = LogitsWith(nullptr);
  const auto hooks = Make({}, kPlaces);
  EXPECT_EQ(LogitsWith(hooks), plain);
  std::map<std::string, const Captured*> found;
  for (const Captured& each : hooks->captured()) found[NameOf(each.at)] = &each;
  ReferenceLogits(model.context->config(), weights, ids, nullptr,
                  [&](const std::string& place, std::size_t head, std::vector<ReferenceRow>& rows) {
                    ASSERT_TRUE(found.contains(place)) << place;
                    const Captured& captured = *found[place];
                    const auto& shape = captured.shape;
                    const bool is_attention = shape.size() == 3 && shape[1] == shape[2];
                    for (std::size_t t = 0; t < rows.size(); ++t) {
                      const std::size_t row = shape.size() == 2 ? t
                                              : is_attention    ? head * shape[1] + t
                                                                : t * shape[1] + head;
                      const float* const values =
                          &hooks->captured_values()[captured.begin + row * shape.back()];
                      for (std::size_t i = 0; i < rows[t].size(); ++i) {
                        if (rows[t][i] == values[i]) continue;  // -infinity
                        ASSERT_NEAR(values[i], rows[t][i], kF32Tolerance) << place << " " << t;
                      }
                    }
                  });
}

TEST_P(ChangesEach, ChangesEveryPlaceAsTheReferenceDoes) {
  const Config& config = model.context->config();
  const auto plain = LogitsWith(nullptr);
  for (const LayerPlace& at : PlacesOf(kPlaces, config.n_layer)) {
    if (at.layer > 1) continue;
    const std::string name = NameOf(at);
    const bool is_attention = at.place == Place::kScores || at.place == Place::kPattern;
    const bool has_heads = is_attention || name.find("attn.") != std::string::npos;
    Change scale{.at = at, .kind = Change::Kind::kScale, .factor = 0.5f};
    Change add{.at = at,
               .positions = {3, 5},
               .kind = Change::Kind::kAdd,
               .factor = 2.0f,
               .values = {0.25f}};
    Change set{.at = at, .positions = {4}, .kind = Change::Kind::kSet, .values = {0.125f}};
    if (has_heads) set.head = 0;
    if (is_attention) {
      set.key = 2;
    } else {
      set.column = 1;
    }
    for (const Change& change : {scale, add, set}) {
      SCOPED_TRACE(name);
      const auto changed = LogitsWith(Make({change}));
      EXPECT_NE(changed, plain);
      const auto expected = ReferenceLogits(
          config, weights, ids, nullptr,
          [&](const std::string& place, std::size_t head, std::vector<ReferenceRow>& rows) {
            if (place != name || change.head.value_or(head) != head) return;
            for (std::size_t t = 0; t < rows.size(); ++t) {
              const auto& chosen = change.positions;
              if (!chosen.empty() && std::ranges::find(chosen, t) == chosen.end()) continue;
              const std::size_t end = is_attention ? t + 1 : rows[t].size();
              for (std::size_t i = 0; i < end; ++i) {
                if (change.key.value_or(change.column.value_or(i)) != i) continue;
                double& x = rows[t][i];
                if (change.kind == Change::Kind::kSet) x = 0.125;
                if (change.kind == Change::Kind::kScale) x *= 0.5;
                if (change.kind == Change::Kind::kAdd) x += 2.0 * 0.25;
              }
            }
          });
      ExpectNear(changed, expected);
    }
  }
  EXPECT_EQ(LogitsWith(nullptr), plain);
}

TEST_P(ChangesEach, ChunksThreadsAndKernelsDoNotChangeABit) {
  std::vector<Change> changes;
  for (const LayerPlace& at : PlacesOf(
           {"blocks.0.attn.z", "blocks.0.attn.scores", "blocks.0.mlp.pre", "blocks.0.attn_out"},
           model.context->config().n_layer)) {
    changes.push_back({.at = at, .positions = {2, 7}, .kind = Change::Kind::kScale, .factor = 3});
  }
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kQ8}) {
    TestModel alone(folder(), format, DefaultKvFormat(format));
    const auto hooks = Make(changes, kPlaces);
    const auto expected = LogitsWith(alone, hooks);
    const std::vector<float> captured(hooks->captured_values().begin(),
                                      hooks->captured_values().end());
    const auto expect_same = [&](TestModel& other, std::size_t chunk) {
      const auto again = Make(changes, kPlaces);
      EXPECT_EQ(LogitsWith(other, again, chunk), expected);
      EXPECT_TRUE(std::ranges::equal(again->captured_values(), captured));
    };
    for (const std::size_t chunk : {1, 3, 12}) expect_same(alone, chunk);
    for (const KernelTable* kernels : KernelTables()) {
      TestModel other(folder(), format, DefaultKvFormat(format), 1, *kernels);
      expect_same(other, 5);
    }
    if (!kHasThreads) continue;
    TestModel other(folder(), format, DefaultKvFormat(format), 3);
    expect_same(other, 5);
  }
}

TEST_P(ChangesEach, KeepsOnlyTheWantedPositions) {
  const std::vector<std::string> names = {"blocks.0.resid_mid", "blocks.0.attn.pattern",
                                          "blocks.0.attn.z"};
  const auto all = Make({}, names);
  const auto some = Make({}, names, {7, 2});
  LogitsWith(all);
  LogitsWith(some);
  const auto row = [](const Changes& hooks, std::size_t place, std::size_t index) {
    const Captured& captured = hooks.captured()[place];
    const std::size_t width = captured.shape.back();
    const auto begin = hooks.captured_values().subspan(captured.begin + index * width, width);
    return std::vector<float>(begin.begin(), begin.end());
  };
  const std::size_t heads = model.context->config().n_head;
  EXPECT_EQ(row(*some, 0, 0), row(*all, 0, 7));
  EXPECT_EQ(row(*some, 0, 1), row(*all, 0, 2));
  EXPECT_EQ(row(*some, 1, 2 + 1), row(*all, 1, 12 + 2));  // of head 1
  EXPECT_EQ(row(*some, 2, heads + 1), row(*all, 2, 2 * heads + 1));
}

TEST_P(ChangesEach, VectorsChangeEachColumnOrEachPosition) {
  const Config& config = model.context->config();
  const auto captured = Make({}, {"blocks.0.resid_mid"});
  LogitsWith(captured);
  // The residual stream of positions 3 and 6, which is set to what it is.
  std::vector<float> rows;
  for (const std::size_t position : {3, 6}) {
    const auto row = captured->captured_values().subspan(position * config.n_embd, config.n_embd);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  const LayerPlace at{Place::kResidMid, 0};
  const auto plain = LogitsWith(nullptr);
  EXPECT_EQ(LogitsWith(Make({{.at = at, .positions = {3, 6}, .values = rows}})), plain);
  rows.resize(config.n_embd);
  EXPECT_EQ(LogitsWith(Make({{.at = at, .positions = {3}, .values = rows}})), plain);
  EXPECT_NE(LogitsWith(Make({{.at = at, .positions = {6}, .values = rows}})), plain);
}

TEST_P(ChangesEach, AHiddenRowOfScoresAddsUpToNothing) {
  const LayerPlace at{Place::kScores, 0};
  const auto hooks =
      Make({{.at = at, .values = {-INFINITY}}}, {"blocks.0.attn.pattern", "blocks.0.attn.z"});
  for (const auto& row : LogitsWith(hooks)) EXPECT_TRUE(std::isfinite(row[0]));
  EXPECT_TRUE(std::ranges::all_of(hooks->captured_values(), [](float x) { return x == 0; }));
}

TEST_P(ChangesEach, AGenerationThatWasSuspendedGoesOnWithItsOwnChanges) {
  const LayerPlace at{Place::kMlpOut, 0};
  const auto strong = Make({{.at = at, .kind = Change::Kind::kScale, .factor = -4}});
  const auto weak = Make({{.at = at, .kind = Change::Kind::kScale, .factor = 0.5f}});
  GenerateOptions options{.max_new_tokens = 12, .temperature = 0};
  options.ignore_eos = true;
  const auto begin = [&](std::shared_ptr<Hooks> hooks) {
    model.context->SetHooks(std::move(hooks));
    return std::move(Session::Begin(*model.context, nullptr, ids, options).value());
  };
  const auto finish = [](Session& session, std::vector<std::int32_t> written = {}) {
    while (!session.is_done()) {
      for (const GeneratedToken& token : NextTokens(session)) written.push_back(token.id);
    }
    return written;
  };
  Session plain = begin(nullptr), alone = begin(strong);
  const auto unchanged = finish(plain = begin(nullptr));
  const auto expected = finish(alone = begin(strong));
  EXPECT_NE(expected, unchanged);
  Session session = begin(strong);
  std::vector<std::int32_t> written;
  while (written.size() < 4) {
    for (const GeneratedToken& token : NextTokens(session)) written.push_back(token.id);
  }
  session.Suspend();
  Session between = begin(weak);
  finish(between);
  ASSERT_TRUE(session.Resume().ok());
  EXPECT_EQ(finish(session, written), expected);
  Session last = begin(nullptr);
  EXPECT_EQ(finish(last), unchanged);
}

TEST(PlaceNames, TransformerLensNamesAndStarsWork) {
  const std::vector<LayerPlace> z = {{Place::kZ, 2}};
  EXPECT_EQ(PlacesNamed("blocks.2.attn.hook_z", 3).value(), z);
  EXPECT_EQ(PlacesNamed("blocks.2.attn.z", 3).value(), z);
  EXPECT_EQ(PlacesNamed("blocks.1.attn.hook_attn_scores", 3).value(),
            (std::vector<LayerPlace>{{Place::kScores, 1}}));
  EXPECT_EQ(PlacesNamed("hook_embed", 3).value(), (std::vector<LayerPlace>{{Place::kEmbed, 0}}));
  EXPECT_EQ(PlacesNamed("blocks.*.mlp_out", 2).value(),
            (std::vector<LayerPlace>{{Place::kMlpOut, 0}, {Place::kMlpOut, 1}}));
}

TEST(PlaceNames, AnErrorHasTheNearestName) {
  const std::pair<const char*, const char*> errors[] = {
      {"blocks.2.attn.zz",
       "\"blocks.2.attn.zz\" is not a place of the forward pass; the nearest name is "
       "\"blocks.2.attn.z\""},
      {"resid_post",
       "\"resid_post\" is not a place of the forward pass; the nearest name is "
       "\"blocks.*.resid_post\""},
      {"blocks.3.mlp.pre",
       "\"blocks.3.mlp.pre\" is in layer \"3\", expected 0 to 2, or * for all layers"},
      {"blocks.-1.mlp.pre",
       "\"blocks.-1.mlp.pre\" is in layer \"-1\", expected 0 to 2, or * for all layers"},
      {"", "\"\" is not a place of the forward pass; the nearest name is \"embed\""},
  };
  for (const auto& [name, message] : errors) {
    EXPECT_EQ(PlacesNamed(name, 3).error().message, message);
  }
}

TEST(Changes, RefusesWhatThePlaceLacks) {
  const Config config = ModelFiles("tied").parsed();
  const std::string width = std::to_string(config.n_embd);
  const auto error_of = [&](const Change& change) {
    return Changes::Create(config, {change}, {}, {}, 4).error().message;
  };
  const LayerPlace z{Place::kZ, 0}, x{Place::kResidMid, 1}, scores{Place::kScores, 1};
  EXPECT_EQ(error_of({.at = z, .head = config.n_head, .values = {0}}),
            "the change at blocks.0.attn.z has the head " + std::to_string(config.n_head) +
                ", expected 0 to " + std::to_string(config.n_head - 1));
  EXPECT_EQ(error_of({.at = x, .head = 0, .values = {0}}),
            "the change at blocks.1.resid_mid has a head, which this place lacks");
  EXPECT_EQ(error_of({.at = x, .key = 0, .values = {0}}),
            "the change at blocks.1.resid_mid has a key, which this place lacks");
  EXPECT_EQ(error_of({.at = z, .column = 0, .values = {0}}),
            "the change at blocks.0.attn.z has a neuron, but no head");
  EXPECT_EQ(error_of({.at = x, .values = {0, 1}}),
            "the change at blocks.1.resid_mid has 2 values, expected 1 or " + width +
                " for each position");
  EXPECT_EQ(error_of({.at = scores, .values = {0, 1}}),
            "the change at blocks.1.attn.scores has 2 values, expected 1");
  EXPECT_EQ(error_of({.at = x, .values = {-INFINITY}}),
            "the change at blocks.1.resid_mid has a value that is not finite");
  const auto position = Changes::Create(config, {}, std::vector<LayerPlace>{x}, {4}, 4);
  EXPECT_EQ(position.error().message, "positions has 4, but the text has 4 tokens");
  Config wide = config;
  wide.n_inner = 1u << 20;
  const auto large =
      Changes::Create(wide, {}, std::vector<LayerPlace>{{Place::kMlpPre, 0}}, {}, 65);
  EXPECT_EQ(large.error().message,
            "the capture takes more than 268435456 bytes: name fewer places or positions");
}

}  // namespace
}  // namespace gpt2::testing
