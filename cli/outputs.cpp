#include "cli/outputs.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "sim/timeline/chakra_trace.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace cli {
namespace {

void require_unread(const std::string& output, const std::vector<std::string>& inputs) {
  std::error_code neither_is_there;
  for (const std::string& input : inputs)
    if (std::filesystem::equivalent(output, input, neither_is_there) && std::filesystem::is_regular_file(input))
      throw sim::InputError(output, {{"", "is read by this command and would be lost", "name another file to write"}});
}

}  // namespace

std::vector<Output> chakra_outputs(const std::string& prefix, const sim::DeviceMesh& mesh) {
  if (prefix.empty()) return {};
  std::vector<Output> outputs{{sim::chakra_groups_file(prefix), sim::OwnFile::Groups}};
  for (sim::Rank rank(0); rank.value() < mesh.ranks(); ++rank)
    outputs.push_back({sim::chakra_trace_file(prefix, rank), sim::OwnFile::Chakra});
  return outputs;
}

void require_outputs(const std::vector<Output>& outputs, const std::vector<std::string>& inputs) {
  std::set<std::string> places;
  for (const Output& output : outputs) {
    if (output.path.empty()) continue;
    require_unread(output.path, inputs);
    sim::require_writable(output.path);
    sim::require_own(output.path, output.kind);
    const std::filesystem::path place = std::filesystem::weakly_canonical(output.path);
    const bool is_file = !std::filesystem::exists(place) || std::filesystem::is_regular_file(place);
    if (is_file && !places.insert(place).second)
      throw sim::InputError(output.path, {{"", "is named for two results: one would be lost", "name another file for one of them"}});
  }
}

}  // namespace cli
