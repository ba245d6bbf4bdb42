#include "sim/model/expert_loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <sstream>

#include "sim/units/at.h"
#include "sim/units/number_text.h"

namespace sim {
namespace {

constexpr std::int64_t kMostLoad = 1'000'000'000'000, kMostExperts = 100'000;
constexpr double kMostSpread = 100;

// False: no such load.
bool read_load(std::string_view word, std::vector<std::int64_t>& tokens) {
  const auto load = repeated_in(word, {0, 1}, {kMostLoad, kMostExperts});
  if (!load || std::ssize(tokens) + load->times > kMostExperts) return false;
  tokens.insert(tokens.end(), static_cast<std::size_t>(load->times), load->number);
  return true;
}

constexpr std::string_view kList = "write tokens of each expert, list 310 120*2 275",
                           kSpread = "write spread 0.6: standard deviation over mean, 100 at most";

}  // namespace

std::string to_text(const ExpertLoads& loads) {
  std::string text{at(kLoadKindNames, loads.kind)};
  if (loads.kind == LoadKind::Spread) text += fmt::format(" {}", loads.spread);
  for (auto at = loads.tokens.begin(); at != loads.tokens.end();) {
    const auto other = std::find_if(at, loads.tokens.end(), [&](std::int64_t one) { return one != *at; });
    text += other - at == 1 ? fmt::format(" {}", *at) : fmt::format(" {}*{}", *at, other - at);
    at = other;
  }
  return text;
}

ExpertLoads parse_expert_loads(std::string_view text, std::vector<Violation>& violations) {
  std::istringstream words{std::string(text)};
  const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
  if (all.empty()) return {};
  const auto fault = [&](const std::string& word, std::string problem, std::string_view remedy) {
    violations.push_back({word, std::move(problem), std::string(remedy)});
    return ExpertLoads{};
  };
  const auto* const name = std::find(std::begin(kLoadKindNames), std::end(kLoadKindNames), all.front());
  if (name == std::end(kLoadKindNames))
    return fault(all.front(), "says nothing of how tokens meet experts",
                 "use even, untrained, spread 0.6 or list 310 120*2 275; empty: as recorded");
  ExpertLoads loads{.kind = static_cast<LoadKind>(name - std::begin(kLoadKindNames))};
  if (loads.kind == LoadKind::Even || loads.kind == LoadKind::Untrained)
    return all.size() == 1 ? loads : fault(all[1], fmt::format("stands behind {}", all.front()), "leave it out");
  if (loads.kind == LoadKind::Spread) {
    const auto spread = all.size() == 2 ? number_in(all[1], 0.0, kMostSpread) : std::nullopt;
    if (!spread) return fault(all.back(), "is no spread", kSpread);
    loads.spread = *spread;
    return loads;
  }
  for (std::size_t place = 1; place < all.size(); ++place)
    if (!read_load(all[place], loads.tokens)) return fault(all[place], "is no load of an expert", kList);
  if (std::accumulate(loads.tokens.begin(), loads.tokens.end(), std::int64_t{0}) == 0) return fault(all.back(), "leaves no tokens", kList);
  return loads;
}

}  // namespace sim
