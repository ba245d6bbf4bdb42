// Reads and writes a config.json by the row of its family.
#pragma once

#include <string>
#include <vector>

#include "sim/model/family.h"

namespace sim {

class JsonReader;

// By the names under which the network that is planned stands beside what sees images; of what hears and speaks, one deeper. Empty: the file is it.
std::vector<std::string> path_of_text(const Json& config);
// Whether embedding and head are one, as what is around the text says it.
constexpr std::string_view kTied = "tie_word_embeddings";
std::optional<bool> tied_around(const Json& config);
// within: another file holds it, whose writer leaves out sizes that its class takes anyway (class_sizes).
ModelConfig read_by_family(const JsonReader& config, const Family& family, bool within = false);
std::vector<std::string> sizes_left_out(const JsonReader& config, const Family& family);  // keys that a file of its own must have
Json write_by_family(const ModelConfig& config, const Family& family);

}  // namespace sim
