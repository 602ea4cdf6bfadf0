#include "engine/generate/place_names.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/concat.h"
#include "engine/base/result.h"
#include "engine/model/hooks.h"
#include "engine/text/quoted.h"

namespace gpt2 {
namespace {

constexpr std::string_view kBlocks = "blocks.";

struct NamedPlace {
  Place place;
  std::string_view name;  // within its layer, if it has one
  bool has_layer = true;
};
constexpr NamedPlace kPlaces[] = {
    {Place::kEmbed, "embed", false},
    {Place::kPosEmbed, "pos_embed", false},
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
    {Place::kNormed, "ln_final.normalized", false},
    {Place::kLogits, "logits", false},
};

// The number of characters to insert, remove or replace (Levenshtein 1966).
std::size_t EditDistance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> costs(to.size() + 1);
  for (std::size_t j = 0; j <= to.size(); ++j) costs[j] = j;
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(costs[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = costs[j + 1];
      costs[j + 1] = std::min({replaced, diagonal + 1, costs[j] + 1});
    }
  }
  return costs[to.size()];
}

// `name` without TransformerLens's "hook_", and "attn_scores" as "scores".
std::string Plain(std::string_view name) {
  std::string plain(name);
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"hook_", ""},
                                 {"attn.attn_scores", "attn.scores"}}) {
    const std::size_t at = plain.rfind(from);
    if (at != std::string::npos) plain.replace(at, from.size(), to);
  }
  return plain;
}

// The longest name that is compared: no place has one.
constexpr std::size_t kLongestName = 64;

}  // namespace

std::string NameOf(const LayerPlace& place) {
  for (const NamedPlace& each : kPlaces) {
    if (each.place != place.place) continue;
    if (!each.has_layer) return std::string(each.name);
    return Concat(kBlocks, place.layer, ".", each.name);
  }
  return "";
}

Result<std::vector<LayerPlace>> PlacesNamed(std::string_view name, std::size_t n_layer) {
  const std::string plain = Plain(name.substr(0, kLongestName));
  std::string_view rest = plain;
  std::string_view block;  // "*" or a number
  if (rest.starts_with(kBlocks)) {
    rest.remove_prefix(kBlocks.size());
    block = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(rest.size(), block.size() + 1));
  }
  std::size_t layer = 0;
  const auto read = std::from_chars(block.data(), block.data() + block.size(), layer);
  const bool is_every = block == "*";
  if (!block.empty() && !is_every &&
      (read.ec != std::errc() || read.ptr != block.data() + block.size() || layer >= n_layer)) {
    return Error{ErrorCode::kInvalidArgument,
                 Concat(Quoted(name), " is in layer ", Quoted(block), ", expected 0 to ",
                        n_layer - 1, ", or * for all layers")};
  }
  const NamedPlace* nearest = nullptr;
  std::size_t least = 0;
  for (const NamedPlace& each : kPlaces) {
    const std::size_t distance =
        EditDistance(rest, each.name) + (each.has_layer == block.empty() ? 1 : 0);
    if (nearest == nullptr || distance < least) {
      nearest = &each;
      least = distance;
    }
  }
  if (least > 0) {
    const std::string_view in = block.empty() ? "*" : block;
    return Error{ErrorCode::kInvalidArgument,
                 Concat(Quoted(name), " is not a place of the forward pass; the nearest name is \"",
                        nearest->has_layer ? Concat(kBlocks, in, ".") : "", nearest->name, "\"")};
  }
  std::vector<LayerPlace> places;
  for (std::size_t each = is_every ? 0 : layer; each < (is_every ? n_layer : layer + 1); ++each) {
    places.push_back({nearest->place, each});
  }
  return places;
}

}  // namespace gpt2
