#include "sim/validation/score.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/validation/orders.h"
#include "sim/validation/sweeps.h"

namespace sim {
namespace {

struct Sample {
  std::string id;
  double error = 0;
  bool covered = false;
};

std::map<std::string, std::vector<Sample>> headline_samples(const ValidationRows& rows, double& interval_sum, std::int64_t& count) {
  std::map<std::string, std::vector<Sample>> samples;
  for (std::size_t at = 0; at < rows.predictions.size(); ++at) {
    const RowTarget& target = rows.targets[at];
    const PredictedRow& row = rows.predictions[at];
    if (!target.headline || !target.time || !row.error.empty()) continue;
    const double measured = *target.time, low = row.estimate.low.count(), high = row.estimate.high.count();
    const double missed = std::max({0.0, low - measured, measured - high});
    interval_sum += (high - low + 2 / 0.2 * missed) / measured;  // Winkler score of an 80 % interval
    ++count;
    samples[target.source].push_back({row.id, row.estimate.time.count() / measured - 1, missed == 0});
  }
  std::vector<Sample> singles;
  for (auto at = samples.begin(); at != samples.end();) {
    if (at->second.size() >= 4) {
      ++at;
      continue;
    }
    singles.insert(singles.end(), at->second.begin(), at->second.end());
    at = samples.erase(at);
  }
  if (!singles.empty()) samples["(singles)"] = std::move(singles);
  return samples;
}

TimeScore time_score(const std::string& source, const std::vector<Sample>& samples) {
  TimeScore result{.source = source, .rows = static_cast<std::int64_t>(samples.size()), .worst_id = {}};
  for (const Sample& sample : samples) {
    result.mape += std::abs(sample.error) / real(result.rows);
    result.bias += sample.error / real(result.rows);
    result.coverage += (sample.covered ? 1.0 : 0.0) / real(result.rows);
    if (std::abs(sample.error) > result.worst) {
      result.worst = std::abs(sample.error);
      result.worst_id = sample.id;
    }
  }
  return result;
}

void score_times(const ValidationRows& rows, Score& result) {
  std::int64_t count = 0;
  const auto samples = headline_samples(rows, result.interval_score, count);
  std::vector<double> errors;
  for (const auto& [source, list] : samples) {
    result.sources.push_back(time_score(source, list));
    result.macro_mape += result.sources.back().mape / static_cast<double>(samples.size());
    result.coverage += result.sources.back().coverage / static_cast<double>(samples.size());
    for (const Sample& sample : list) {
      errors.push_back(std::abs(sample.error));
      result.bias += sample.error / real(count);
    }
  }
  if (errors.empty()) return;
  result.interval_score /= real(count);
  std::sort(errors.begin(), errors.end());
  for (const double error : errors) result.micro_mape += error / real(count);
  result.median = errors[errors.size() / 2];
  result.percentile90 = errors[errors.size() * 9 / 10];
}

void score_memory(const ValidationRows& rows, Score& result) {
  std::map<std::pair<std::string, std::string>, MemoryScore> kinds;
  for (std::size_t at = 0; at < rows.predictions.size(); ++at) {
    const RowTarget& target = rows.targets[at];
    if (!target.memory_gib || !rows.predictions[at].error.empty()) continue;
    MemoryScore& kind = kinds[{target.source, target.memory_kind}];
    const double error = rows.predictions[at].estimate.memory_gib / *target.memory_gib - 1;
    ++kind.rows;
    const RowEstimate& estimate = rows.predictions[at].estimate;
    result.memory_coverage += estimate.memory_low_gib <= *target.memory_gib && *target.memory_gib <= estimate.memory_high_gib ? 1 : 0;
    kind.mape += std::abs(error);
    kind.bias += error;
  }
  for (auto& [name, kind] : kinds) {
    result.memory_mape += kind.mape;
    result.memory.push_back({name.first, name.second, kind.rows, kind.mape / real(kind.rows), kind.bias / real(kind.rows)});
  }
  std::int64_t all = 0;
  for (const MemoryScore& kind : result.memory) all += kind.rows;
  if (all == 0) return;
  result.memory_mape /= real(all);
  result.memory_coverage /= real(all);
}

void score_verdicts(const ValidationRows& rows, Score& result) {
  for (std::size_t at = 0; at < rows.predictions.size(); ++at) {
    const RowTarget& target = rows.targets[at];
    if (!rows.predictions[at].error.empty()) continue;
    const bool called = rows.predictions[at].estimate.out_of_memory;
    if (!target.out_of_memory)
      result.verdicts.false_alarms += called && target.time ? 1 : 0;
    else if (*target.out_of_memory)
      ++(called ? result.verdicts.true_positive : result.verdicts.false_negative);
    else
      ++(called ? result.verdicts.false_positive : result.verdicts.true_negative);
  }
}

}  // namespace

double VerdictScore::accuracy() const {
  const std::int64_t all = true_positive + false_positive + true_negative + false_negative;
  return all == 0 ? 1 : real(true_positive + true_negative) / real(all);
}

Score score(const ValidationRows& rows) {
  Score result;
  for (const PredictedRow& row : rows.predictions) ++(!row.error.empty() ? result.errors : result.predicted);
  score_times(rows, result);
  score_sweeps(rows, result);
  score_orders(rows, result);
  score_memory(rows, result);
  score_verdicts(rows, result);
  return result;
}

}  // namespace sim
