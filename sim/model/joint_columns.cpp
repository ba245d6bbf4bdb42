#include "sim/model/joint_columns.h"

namespace sim {

std::vector<std::int64_t> joint_blocks(const Heads& heads) {
  std::vector<std::int64_t> blocks{heads.queries * heads.key_width};
  if (!heads.made_before) blocks.push_back(heads.keys * heads.key_width);
  if (!heads.made_before && !heads.one_product) blocks.push_back(heads.keys * heads.value_width);
  if (heads.gate > 0) blocks.push_back(heads.gate);
  return blocks;
}

std::vector<std::int64_t> joint_biases(const ModelConfig& config) {
  std::vector<std::int64_t> blocks = joint_blocks(heads_of(config));
  if (config.attention_gate && config.softplus_gate) blocks.pop_back();
  if (!config.key_bias) blocks.erase(blocks.begin() + 1);
  return blocks;
}

}  // namespace sim
