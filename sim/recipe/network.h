// The network that a file describes, beside the one of a config.json, and the family whose config.json can say it: a plan holds no other.
#pragma once

#include <string>
#include <vector>

#include "sim/recipe/draft.h"

namespace sim {

// Fields in which two networks differ, "intermediate_size: 8192 in the file, 11008 in the model". Structure: another network. The others (dropout,
// epsilon, the base of positions) leave weights and products as they are.
// Words: what a block may have beyond the plain one (windows, norms of queries and keys), of which a config.json or a program may not speak.
struct NetworkDifferences {
  std::vector<std::string> structure, words, others;
};
NetworkDifferences network_differences(const ModelConfig& in_file, const ModelConfig& in_model);

struct NetworkChange {
  std::string field, before, now;
};
std::vector<NetworkChange> network_changes(const ModelConfig& before, const ModelConfig& now);

// The same network as a config.json of one family says it, and what that family cannot say.
struct SaidNetwork {
  ModelConfig model;
  NetworkDifferences lost;
};
SaidNetwork as_a_family_says_it(const ModelConfig& network);  // network.model_type first, else the family that loses least

// A setting: the script that makes the network in its code, and what no option says of it. Sizes alone are the file's then.
inline constexpr std::string_view kNetworkOfCode = "network-of-code";

// Of what the file describes and what is given, the network of the plan; what does not fit is told. A vocabulary of 0 is one that the file leaves open.
void settle_network(Draft& draft, const std::optional<ModelConfig>& in_file, const RecipeContext& context);

}  // namespace sim
