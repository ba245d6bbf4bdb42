// The score as a Markdown table. Declared in score.h.
#include <fmt/format.h>

#include "sim/validation/score.h"

namespace sim {

std::string score_text(const Score& score) {
  std::string text = "| source | rows | MAPE % | bias % | in interval % | worst % | worst row |\n|---|---|---|---|---|---|---|\n";
  for (const TimeScore& source : score.sources)
    text += fmt::format("| {} | {} | {:.1f} | {:+.1f} | {:.0f} | {:.1f} | `{}` |\n", source.source, source.rows, 100 * source.mape,
                        100 * source.bias, 100 * source.coverage, 100 * source.worst, source.worst_id);
  text += fmt::format("\n| what | figure |\n|---|---|\n| rows predicted / with an error | {} / {} |\n", score.predicted, score.errors);
  text += fmt::format(
      "| step time: macro MAPE | {:.2f} % |\n| micro MAPE, median, 90th percentile, bias | {:.2f}, {:.2f}, {:.2f}, {:+.2f} % |\n",
      100 * score.macro_mape, 100 * score.micro_mape, 100 * score.median, 100 * score.percentile90, 100 * score.bias);
  text += fmt::format("| interval: rows inside (mean over sources), Winkler score | {:.0f} %, {:.2f} |\n", 100 * score.coverage,
                      score.interval_score);
  const SweepScore& sweeps = score.sweeps_by_source;
  text += fmt::format("| {} sweeps: regret, within 1 % of the best, Spearman | {:.2f} %, {:.0f} %, {:.2f} |\n", score.sweeps.sweeps,
                      100 * score.sweeps.regret, 100 * score.sweeps.top1, score.sweeps.spearman);
  text += fmt::format("| the same, mean over sources | {:.2f} %, {:.0f} %, {:.2f} |\n", 100 * sweeps.regret, 100 * sweeps.top1,
                      sweeps.spearman);
  for (const MemoryScore& kind : score.memory)
    text += fmt::format("| memory, {}, {} ({} rows): MAPE, bias | {:.1f}, {:+.1f} % |\n", kind.source, kind.kind, kind.rows,
                        100 * kind.mape, 100 * kind.bias);
  const VerdictScore& verdicts = score.verdicts;
  text += fmt::format(
      "| memory, all rows: MAPE, in interval | {:.1f}, {:.0f} % |\n| out of memory: right; missed, called wrongly, beside verdicts | "
      "{:.1f} %; {}, {}, {} |\n",
      100 * score.memory_mape, 100 * score.memory_coverage, 100 * verdicts.accuracy(), verdicts.false_negative, verdicts.false_positive,
      verdicts.false_alarms);
  return text;
}

}  // namespace sim
