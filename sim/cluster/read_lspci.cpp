#include "sim/cluster/read_lspci.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <set>
#include <string_view>

namespace sim {
namespace {

struct Card {
  std::string kind, name;  // "3D controller", "NVIDIA Corporation GA100 [A100 SXM4 80GB]"
  bool named(std::string_view words) const { return name.find(words) != std::string::npos; }
};

// "[0000:]07:00.0 kind[ [0302]]: name[ [10de:20b2]][ (rev a1)]": what -n adds and the revision are left out.
std::optional<Card> card_of(const std::string& line) {
  static const std::regex shape(R"(((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([^:\[]+?)(?: \[[0-9a-f]{4}\])?: (.+))");
  static const std::regex ids(R"( \[[0-9a-f]{4}:[0-9a-f]{4}\]| \((?:rev|prog-if) [^)]*\))");
  constexpr std::size_t kLongest = 512;  // of a line: no name is longer, and a regular expression recurses along it
  std::smatch match;
  if (line.size() > kLongest || !std::regex_match(line, match, shape)) return std::nullopt;
  return Card{match[2], std::regex_replace(match[3].str(), ids, "")};
}

bool is_accelerator(const Card& card) {
  if (card.named("NVIDIA")) return card.kind == "3D controller" || card.kind == "VGA compatible controller";
  return card.named("AMD") && (card.kind == "Processing accelerators" || card.kind == "Display controller");
}

// What its last bracket says, or the whole: "A100 SXM4 80GB".
std::string name_of(const Card& card) {
  const std::size_t begin = card.name.rfind('['), end = card.name.rfind(']');
  return begin < end && end != std::string::npos ? card.name.substr(begin + 1, end - begin - 1) : card.name;
}

std::int32_t count(const auto& cards, const auto& is) { return static_cast<std::int32_t>(std::ranges::count_if(cards, is)); }

}  // namespace

bool is_lspci(const std::vector<std::string>& lines) {
  return std::ranges::any_of(lines, [](const std::string& line) { return card_of(line).has_value(); });
}

void read_lspci(MachineFacts& facts, const std::vector<std::string>& lines) {
  std::vector<Card> cards;
  for (const std::string& line : lines)
    if (auto card = card_of(line)) cards.push_back(std::move(*card));
  std::set<std::string> names;
  for (const Card& card : cards)
    if (is_accelerator(card)) names.insert(name_of(card));
  facts.device_names.assign(names.begin(), names.end());
  const auto is_port = [](const Card& card) { return card.kind == "Infiniband controller"; };
  const auto is_function = [&](const Card& card) { return is_port(card) && card.named("Virtual Function"); };
  const std::int32_t functions = count(cards, is_function), ports = count(cards, is_port) - functions;
  if (const std::int32_t devices = count(cards, is_accelerator); devices > 0) facts.devices = devices;
  if (const std::int32_t adapters = ports > 0 ? ports : functions; adapters > 0) facts.adapters = adapters;
}

}  // namespace sim
