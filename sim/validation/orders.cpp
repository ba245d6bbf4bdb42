#include "sim/validation/orders.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include "sim/units/at.h"

namespace sim {
namespace {

constexpr double kFrom[] = {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99};
constexpr double kSurest = 0.9999;  // no order costs more than the logarithm of what is left

struct Ordered {
  const RowTarget* target = nullptr;
  const RowEstimate* estimate = nullptr;
};

struct Tally {
  std::int64_t pairs = 0;
  double said = 0, held = 0;
};

struct SourceTally {
  Tally bins[std::size(kFrom)];
  double surprise = 0;
  std::int64_t pairs = 0;
};

void compare(const Ordered& one, const Ordered& other, SourceTally& tally) {
  const double chance = chance_faster(one.estimate->step, other.estimate->step), said = std::max(chance, 1 - chance);
  const bool holds = (chance > 0.5) == (*one.target->time < *other.target->time);
  const auto above = std::ranges::upper_bound(kFrom, said);
  Tally& bin = tally.bins[std::max<std::ptrdiff_t>(1, above - std::begin(kFrom)) - 1];
  ++bin.pairs;
  bin.said += said;
  bin.held += holds ? 1 : 0;
  tally.surprise -= std::log(holds ? said : 1 - std::min(said, kSurest));
  ++tally.pairs;
}

void compare_all(const std::vector<Ordered>& sweep, SourceTally& tally) {
  for (auto one = sweep.begin(); one != sweep.end(); ++one)
    for (auto other = std::next(one); other != sweep.end(); ++other)
      if (*one->target->time != *other->target->time) compare(*one, *other, tally);
}

std::map<std::string, SourceTally> tallies(const ValidationRows& rows) {
  std::map<std::pair<std::string, std::string>, std::vector<Ordered>> sweeps;
  for (std::size_t at = 0; at < rows.predictions.size(); ++at) {
    const RowTarget& target = rows.targets[at];
    const PredictedRow& row = rows.predictions[at];
    if (target.headline && target.time && row.error.empty())
      sweeps[{target.sweep, row.estimate.program}].push_back({&target, &row.estimate});
  }
  std::map<std::string, SourceTally> sources;
  for (const auto& [question, sweep] : sweeps)
    if (sweep.size() > 1) compare_all(sweep, sources[sweep.front().target->source]);
  return sources;
}

OrderScore order_score(std::size_t bin, const std::map<std::string, SourceTally>& sources) {
  OrderScore score{.from = kFrom[bin]};
  std::int64_t with = 0;
  for (const auto& [source, tally] : sources) {
    const Tally& one = tally.bins[bin];
    if (one.pairs == 0) continue;
    ++with;
    score.pairs += one.pairs;
    score.said += one.said;
    score.held += one.held;
    score.held_by_source += one.held / real(one.pairs);
  }
  score.sources = with;
  score.said /= std::max(1.0, real(score.pairs));
  score.held /= std::max(1.0, real(score.pairs));
  score.held_by_source /= std::max(1.0, real(with));
  return score;
}

}  // namespace

void score_orders(const ValidationRows& rows, Score& result) {
  const std::map<std::string, SourceTally> sources = tallies(rows);
  for (std::size_t bin = 0; bin < std::size(kFrom); ++bin) result.orders.push_back(order_score(bin, sources));
  std::int64_t with = 0;
  for (const auto& [source, tally] : sources) {
    if (tally.pairs == 0) continue;
    ++with;
    result.order_surprise += tally.surprise / real(tally.pairs);
  }
  result.order_surprise /= std::max(1.0, real(with));
}

}  // namespace sim
