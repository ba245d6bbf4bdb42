// How good predictions are: step times by source, choice of the fastest plan in sweeps, memory, out-of-memory verdicts, intervals.
#pragma once

#include <string>
#include <vector>

#include "sim/validation/predict_rows.h"

namespace sim {

struct TimeScore {
  std::string source;  // "(singles)": sources of fewer than four headline rows together
  std::int64_t rows = 0;
  double mape = 0, bias = 0, coverage = 0, worst = 0;  // shares, not percent
  std::string worst_id;
};

struct SweepScore {
  std::int64_t sweeps = 0;
  double regret = 0, top1 = 0, spearman = 0;
};
// Pairs whose order was said to hold with a chance from `from` to that of the next one.
struct OrderScore {
  double from = 0;
  std::int64_t pairs = 0, sources = 0;
  double said = 0, held = 0;  // shares: mean of the chance, and how many orders hold
  double held_by_source = 0;  // mean over sources
};
struct MemoryScore {
  std::string source, kind;  // kind: what the counter counts
  std::int64_t rows = 0;
  double mape = 0, bias = 0;
};
struct VerdictScore {
  std::int64_t true_positive = 0, false_positive = 0, true_negative = 0, false_negative = 0, false_alarms = 0;
  double accuracy() const;
};

struct Score {
  std::vector<TimeScore> sources;
  double macro_mape = 0, micro_mape = 0, median = 0, percentile90 = 0, bias = 0, coverage = 0, interval_score = 0;
  SweepScore sweeps;            // plain mean over sweeps
  SweepScore sweeps_by_source;  // mean over sources of their means
  std::vector<OrderScore> orders;
  double order_surprise = 0;  // mean over sources of -log(chance said of what was the case), in nats
  std::vector<MemoryScore> memory;
  double memory_mape = 0, memory_coverage = 0;
  VerdictScore verdicts;
  std::int64_t predicted = 0, errors = 0;
};

Score score(const ValidationRows& rows);
std::string score_text(const Score& score);      // table in Markdown
std::string score_document(const Score& score);  // JSON

}  // namespace sim
