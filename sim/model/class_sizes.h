// Sizes that the class of a family takes where its file is silent. A file of its own names what the network is made of, and one that does not is broken;
// a network within another file (`text_config`) leaves out whatever its class takes anyway: Gemma 3's say neither vocabulary nor, of 4 B, heads.
// Read by family_json.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/model/model_config.h"

namespace sim {

struct ClassSizes {  // 0: the class has none, or lets it follow from others
  std::string_view family;
  std::int64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocabulary;
};
std::span<const ClassSizes> all_class_sizes();

// Into a network that is still to be read: heads of keys and the width of a head; within another file all others, too.
void take_class_sizes(ModelConfig& config, bool within);

}  // namespace sim
