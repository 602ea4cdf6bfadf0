// The names of the places in a forward pass, as in TransformerLens.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/model/hooks.h"

namespace gpt2 {

// A place of one layer; layer 0 for those outside the layers.
struct LayerPlace {
  Place place;
  std::size_t layer;

  bool operator==(const LayerPlace&) const = default;
};

// "blocks.3.attn.z", "embed" and so on.
std::string NameOf(const LayerPlace& place);

// The places that `name` names: one, or with "blocks.*." that of every layer. TransformerLens's own
// names work, too: "blocks.3.attn.hook_z". An error has the nearest name.
Result<std::vector<LayerPlace>> PlacesNamed(std::string_view name, std::size_t n_layer);

}  // namespace gpt2
