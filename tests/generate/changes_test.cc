// Captures and changes at each place of the forward pass, compared with the float64 reference.
#include "engine/generate/changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/generate/session.h"
#include "tests/support/hook_numbers.h"
#include "tests/support/reference_model.h"
#include "tests/support/safetensors_file.h"
#include "tests/support/session_steps.h"
#include "tests/support/test_model.h"
#include "tests/support/threads.h"

namespace gpt2::testing {
namespace {

using Rows = std::vector<std::vector<float>>;

// The places and their names in TransformerLens, those of a layer without "blocks.3.".
const std::pair<Place, std::string> kPlaces[] = {{Place::kEmbed, "embed"},
                                                 {Place::kPosEmbed, "pos_embed"},
                                                 {Place::kResidPre, "resid_pre"},
                                                 {Place::kNormed1, "ln1.normalized"},
                                                 {Place::kQ, "attn.q"},
                                                 {Place::kK, "attn.k"},
                                                 {Place::kV, "attn.v"},
                                                 {Place::kScores, "attn.scores"},
                                                 {Place::kPattern, "attn.pattern"},
                                                 {Place::kZ, "attn.z"},
                                                 {Place::kAttnOut, "attn_out"},
                                                 {Place::kResidMid, "resid_mid"},
                                                 {Place::kNormed2, "ln2.normalized"},
                                                 {Place::kMlpPre, "mlp.pre"},
                                                 {Place::kMlpPost, "mlp.post"},
                                                 {Place::kMlpOut, "mlp_out"},
                                                 {Place::kResidPost, "resid_post"},
                                                 {Place::kNormed, "ln_final.normalized"},
                                                 {Place::kLogits, "logits"}};

bool HasLayer(Place place) {
  return place >= Place::kResidPre && place <= Place::kResidPost;
}
std::string NameOf(const LayerPlace& at) {
  const std::string block = "blocks." + std::to_string(at.layer) + ".";
  for (const auto& [place, name] : kPlaces) {
    if (place == at.place) return (HasLayer(place) ? block : "") + name;
  }
  return "";
}
std::vector<LayerPlace> AllPlaces(std::size_t layers) {
  std::vector<LayerPlace> places;
  for (const auto& [place, name] : kPlaces) {
    for (std::size_t layer = 0; layer < (HasLayer(place) ? layers : 1); ++layer) {
      places.push_back({place, layer});
    }
  }
  return places;
}

class ChangesEach : public ::testing::TestWithParam<std::string> {
 protected:
  std::string folder() const { return TinyModelFolder(GetParam()); }

  std::shared_ptr<Changes> Make(const std::vector<ChangeSpec>& changes,
                                const std::vector<LayerPlace>& captures = {},
                                const std::vector<double>& positions = {}) const {
    const auto numbers = HookNumbers(changes, captures, positions);
    return Changes::Create(model.context->config(), numbers, ids.size()).value();
  }

  // The logits of the text with `hooks`.
  Rows LogitsWith(TestModel& of, std::shared_ptr<Hooks> hooks, std::size_t chunk = 5) const {
    of.context->SetHooks(std::move(hooks));
    return of.Logits(ids, chunk);
  }
  Rows LogitsWith(std::shared_ptr<Hooks> hooks) { return LogitsWith(model, std::move(hooks)); }

  // The values of row `row` of a place with `heads` heads.
  std::vector<float> RowOf(const Changes& hooks, std::size_t place, std::size_t row,
                           std::size_t width) const {
    const auto begin =
        hooks.captured_values().subspan(hooks.captured()[place].begin + row * width, width);
    return {begin.begin(), begin.end()};
  }

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
  const Config& config = model.context->config();
  const auto plain = LogitsWith(nullptr);
  const auto hooks = Make({}, AllPlaces(config.n_layer));
  EXPECT_EQ(LogitsWith(hooks), plain);
  std::map<std::string, std::size_t> found;
  for (std::size_t i = 0; i < hooks->captured().size(); ++i) {
    found[NameOf(hooks->captured()[i].at)] = i;
  }
  ReferenceLogits(
      config, weights, ids, nullptr,
      [&](const std::string& name, std::size_t head, std::vector<ReferenceRow>& rows) {
        ASSERT_TRUE(found.contains(name)) << name;
        const Place place = hooks->captured()[found[name]].at.place;
        const bool is_attention = place == Place::kScores || place == Place::kPattern;
        const bool is_shared = place == Place::kK || place == Place::kV;
        const bool has_heads = is_shared || place == Place::kQ || place == Place::kZ;
        const std::size_t heads = is_shared ? config.n_kv_head() : has_heads ? config.n_head : 1;
        for (std::size_t t = 0; t < rows.size(); ++t) {
          const std::size_t row = is_attention ? head * rows.size() + t : t * heads + head;
          const std::vector<float> values = RowOf(*hooks, found[name], row, rows[t].size());
          for (std::size_t i = 0; i < rows[t].size(); ++i) {
            if (rows[t][i] == values[i]) continue;  // -infinity
            ASSERT_NEAR(values[i], rows[t][i], kF32Tolerance) << name << " " << t;
          }
        }
      });
}

TEST_P(ChangesEach, ChangesEveryPlaceAsTheReferenceDoes) {
  const Config& config = model.context->config();
  const auto plain = LogitsWith(nullptr);
  for (const LayerPlace& at : AllPlaces(config.n_layer)) {
    if (at.layer > 1) continue;
    const std::string name = NameOf(at);
    const bool is_attention = at.place == Place::kScores || at.place == Place::kPattern;
    const bool has_heads = name.find("attn.") != std::string::npos;
    ChangeSpec scale{.at = at, .kind = Change::Kind::kScale, .factor = 0.5f};
    ChangeSpec add{.at = at,
                   .kind = Change::Kind::kAdd,
                   .factor = 2.0f,
                   .positions = {3, 5},
                   .values = {0.25f}};
    ChangeSpec set{.at = at, .kind = Change::Kind::kSet, .positions = {4}, .values = {0.125f}};
    if (has_heads) set.head = 0;
    set.column = 1;
    for (const ChangeSpec& change : {scale, add, set}) {
      SCOPED_TRACE(name);
      const auto changed = LogitsWith(Make({change}));
      EXPECT_NE(changed, plain);
      const auto expected = ReferenceLogits(
          config, weights, ids, nullptr,
          [&](const std::string& place, std::size_t head, std::vector<ReferenceRow>& rows) {
            if (place != name || (change.head >= 0 && change.head != static_cast<double>(head)))
              return;
            for (std::size_t t = 0; t < rows.size(); ++t) {
              const auto& chosen = change.positions;
              if (!chosen.empty() && std::ranges::find(chosen, t) == chosen.end()) continue;
              const std::size_t end = is_attention ? t + 1 : rows[t].size();
              for (std::size_t i = 0; i < end; ++i) {
                if (change.column >= 0 && change.column != static_cast<double>(i)) continue;
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
  const std::vector<LayerPlace> all = AllPlaces(model.context->config().n_layer);
  std::vector<ChangeSpec> changes;
  for (const Place place : {Place::kZ, Place::kScores, Place::kMlpPre, Place::kAttnOut}) {
    changes.push_back(
        {.at = {place, 0}, .kind = Change::Kind::kScale, .factor = 3, .positions = {2, 7}});
  }
  for (const WeightFormat format : {WeightFormat::kF32, WeightFormat::kQ8}) {
    TestModel alone(folder(), format, DefaultKvFormat(format));
    const auto hooks = Make(changes, all);
    const auto expected = LogitsWith(alone, hooks);
    const std::vector<float> captured(hooks->captured_values().begin(),
                                      hooks->captured_values().end());
    const auto expect_same = [&](TestModel& other, std::size_t chunk) {
      const auto again = Make(changes, all);
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
  const Config& config = model.context->config();
  const std::vector<LayerPlace> places = {
      {Place::kResidMid, 0}, {Place::kPattern, 0}, {Place::kZ, 0}};
  const auto all = Make({}, places);
  const auto some = Make({}, places, {7, 2});
  LogitsWith(all);
  LogitsWith(some);
  const auto expect_same = [&](std::size_t place, std::size_t row, std::size_t row_of_all,
                               std::size_t width) {
    EXPECT_EQ(RowOf(*some, place, row, width), RowOf(*all, place, row_of_all, width)) << place;
  };
  expect_same(0, 0, 7, config.n_embd);
  expect_same(0, 1, 2, config.n_embd);
  expect_same(1, 2 + 1, ids.size() + 2, ids.size());  // of head 1
  expect_same(2, config.n_head + 1, 2 * config.n_head + 1, config.head_dim());
}

TEST_P(ChangesEach, VectorsChangeEachColumnOrEachPosition) {
  const Config& config = model.context->config();
  const auto captured = Make({}, {{Place::kResidMid, 0}});
  LogitsWith(captured);
  // The residual stream of positions 3 and 6, which is set to what it is.
  std::vector<double> rows;
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
      Make({{.at = at, .values = {-kInfinity}}}, {{Place::kPattern, 0}, {Place::kZ, 0}});
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
  Session plain = begin(nullptr);
  const auto unchanged = finish(plain);
  Session alone = begin(strong);
  const auto expected = finish(alone);
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

TEST(Changes, RefusesWhatTheModelLacks) {
  const Config config = ModelFiles("tied").parsed();
  const auto error_of = [](const Config& of, const std::vector<double>& numbers) {
    const auto made = Changes::Create(of, numbers, 65);
    return made.ok() ? "" : made.error().message;
  };
  const double heads = static_cast<double>(config.n_head),
               dim = static_cast<double>(config.head_dim());
  const LayerPlace z{Place::kZ, 0}, x{Place::kResidMid, 1}, scores{Place::kScores, 1};
  const ChangeSpec bad[] = {
      {.at = {Place::kZ, config.n_layer}, .values = {0}},
      {.at = z, .head = heads, .values = {0}},
      {.at = x, .head = 1, .values = {0}},
      {.at = z, .column = dim, .values = {0}},
      {.at = x, .values = {}},
      {.at = x, .values = {0, 1}},
      {.at = scores, .values = {0, 1}},
      {.at = z, .column = 0, .positions = {2, 5, 6}, .values = {0, 1, 2}},  // one for each head
  };
  constexpr const char* kRefusal = "the numbers of hooks do not fit the model";
  for (const ChangeSpec& change : bad) EXPECT_EQ(error_of(config, HookNumbers({change})), kRefusal);
  EXPECT_EQ(error_of(config, HookNumbers({}, {{Place::kZ, config.n_layer}})), kRefusal);
  const auto good = HookNumbers({{.at = x, .positions = {1}, .values = {0}}}, {x}, {2});
  EXPECT_EQ(error_of(config, good), "");
  for (std::size_t i = 0; i < good.size(); ++i) {
    EXPECT_EQ(error_of(config, {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(i)}),
              kRefusal);
    std::vector<double> damaged = good;
    for (const double number : {-2.0, 0.5, 1e300, std::nan("")}) {
      damaged[i] = number;
      error_of(config, damaged);  // a position or a value may be anything
    }
  }
  Config wide = config;
  wide.n_inner = 1u << 20;
  EXPECT_EQ(error_of(wide, HookNumbers({}, {{Place::kMlpPre, 0}})),
            "the capture takes more than 268435456 bytes: name fewer places or positions");
}

}  // namespace
}  // namespace gpt2::testing
