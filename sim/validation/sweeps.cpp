#include "sim/validation/sweeps.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace sim {
namespace {

struct Entry {
  double measured = 0, predicted = 0;
  bool out_of_memory = false;
};

std::vector<double> ranks_of(const std::vector<double>& values) {  // equal values share their ranks
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t at = 0; at < order.size();) {
    std::size_t end = at;
    while (end < order.size() && values[order[end]] == values[order[at]]) ++end;
    for (std::size_t i = at; i < end; ++i) ranks[order[i]] = static_cast<double>(at + end - 1) / 2;
    at = end;
  }
  return ranks;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n, mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t at = 0; at < a.size(); ++at) {
    ab += (a[at] - mean_a) * (b[at] - mean_b);
    aa += (a[at] - mean_a) * (a[at] - mean_a);
    bb += (b[at] - mean_b) * (b[at] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

SweepScore one_sweep(const std::vector<Entry>& entries) {
  double best = 1e300, chosen = 1e300;
  std::vector<double> measured, predicted;
  const bool all_out = std::all_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.out_of_memory; });
  for (const Entry& entry : entries) {
    best = std::min(best, entry.measured);
    if (!entry.out_of_memory || all_out) chosen = std::min(chosen, entry.predicted);
    measured.push_back(entry.measured);
    predicted.push_back(entry.predicted);
  }
  double regret = 0, top = 0, picks = 0;
  for (const Entry& entry : entries)
    if (entry.predicted == chosen && (!entry.out_of_memory || all_out)) {
      regret += entry.measured / best - 1;
      top += entry.measured <= 1.01 * best ? 1 : 0;
      ++picks;
    }
  return {1, regret / picks, top / picks, correlation(ranks_of(measured), ranks_of(predicted))};
}

void add(SweepScore& sum, const SweepScore& one) {
  ++sum.sweeps;
  sum.regret += one.regret;
  sum.top1 += one.top1;
  sum.spearman += one.spearman;
}

SweepScore mean(const SweepScore& sum) {
  const double n = std::max<double>(1, real(sum.sweeps));
  return {sum.sweeps, sum.regret / n, sum.top1 / n, sum.spearman / n};
}

}  // namespace

void score_sweeps(const ValidationRows& rows, Score& result) {
  std::map<std::string, std::vector<Entry>> sweeps;
  for (std::size_t at = 0; at < rows.predictions.size(); ++at) {
    const RowTarget& target = rows.targets[at];
    const PredictedRow& row = rows.predictions[at];
    if (target.time && row.error.empty())
      sweeps[target.sweep].push_back({*target.time, row.estimate.time.count(), row.estimate.out_of_memory});
  }
  SweepScore all;
  std::map<std::string, SweepScore> sources;
  for (const auto& [name, entries] : sweeps) {
    if (entries.size() < 3) continue;
    const SweepScore one = one_sweep(entries);
    add(all, one);
    add(sources[name.substr(0, name.find('|'))], one);
  }
  SweepScore by_source;
  for (const auto& [name, sum] : sources) add(by_source, mean(sum));
  result.sweeps = mean(all);
  result.sweeps_by_source = mean(by_source);
}

}  // namespace sim
