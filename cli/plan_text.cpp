#include "cli/plan_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

#include "cli/report.h"
#include "cli/table.h"
#include "sim/cluster/whose_speed.h"
#include "sim/cost/gradient_lifetime.h"
#include "sim/cost/prediction_interval.h"
#include "sim/model/model_text.h"
#include "sim/plan/field_words.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"
#include "sim/units/unit_text.h"

namespace cli {
namespace {

using Row = std::vector<std::string>;

constexpr std::size_t kShownOfFront = 8;
constexpr double kNoGap = 0.0005;  // what rounds to 0.0 %

// "none", "full", "full first 4"; of parts their names.
std::string recompute_name(const sim::ParallelPlan& plan) {
  if (!plan.recomputed_modules().none()) return fmt::format("{}", fmt::join(sim::names_of(plan.recomputed_modules()), ","));
  const std::string where = sim::to_text(plan.recompute_scope);
  return std::string(sim::at(sim::kRecomputeNames, plan.recompute)) + (where.empty() ? "" : " " + where);
}

// "16"; "16 x tensor 1" where tensor ranks do not share them.
std::string expert_name(const sim::ParallelPlan& plan) {
  return std::to_string(plan.mesh.expert) + (plan.mesh.cuts_experts_apart() ? fmt::format(" x tensor {}", plan.mesh.expert_cut()) : "");
}

// "3"; "3 (weights kept until backward)"; "3 (8 neighbours keep weights until backward, units of 4 blocks)"; "1 (shards over 8 ranks, replicated)".
std::string zero_name(const sim::ParallelPlan& plan) {
  std::vector<std::string> words;
  if (plan.mesh.replicas > 1) words.push_back(fmt::format("shards over {} ranks, replicated", plan.mesh.shards()));
  const bool gathers = plan.zero_stage == 3;
  if (gathers && !plan.reshard_after_forward) words.emplace_back("weights kept until backward");
  if (gathers && plan.mesh.reshard > 1)
    words.push_back(fmt::format("{} neighbours keep weights until {}", plan.mesh.reshard, sim::at(sim::kKeptUntilNames, plan.kept_until)));
  if (gathers && plan.layers_per_unit > 1) words.push_back(fmt::format("units of {} blocks", plan.layers_per_unit));
  return std::to_string(plan.zero_stage) + (words.empty() ? "" : fmt::format(" ({})", fmt::join(words, ", ")));
}

// "interleaved, 4 chunks"; of an order that no schedule has, a CSV's or one searched for its passes: "order of its own".
std::string schedule_name(const sim::ParallelPlan& plan) {
  if (plan.mesh.pipeline == 1) return "-";
  const std::string name = plan.written_order ? "order of its own" : plan.schedule;
  return name + (plan.chunks > 1 ? ", " + sim::counted(plan.chunks, "chunk") : "");
}

// "4 ring".
std::string context_name(const sim::ParallelPlan& plan) {
  if (plan.mesh.context == 1) return "-";
  return fmt::format("{} {}", plan.mesh.context, sim::at(sim::kContextAlgorithmNames, plan.context_algorithm));
}

// What lies on the host.
std::string host_name(const sim::ParallelPlan& plan) {
  std::string name = plan.offload_parameters ? "weights, optimizer" : plan.offload_optimizer ? "optimizer" : "";
  if (plan.offload_activations) name += name.empty() ? "inputs" : ", inputs";
  if (!plan.offload_modules.none()) name += (name.empty() ? "" : ", ") + sim::to_text(plan.offload_modules);
  return name.empty() ? "-" : name;
}

// When gradients of several microbatches are reduced.
std::string reduction_name(const sim::ParallelPlan& plan) {
  if (plan.num_microbatches() == 1 || plan.mesh.copies() == 1) return "-";
  return plan.accumulation == sim::Accumulation::ReduceEach ? "each" : "last";
}

// Fields that other cells hold, or that follow from them.
constexpr std::string_view kTold[] = {"data",
                                      "pipeline",
                                      "tensor",
                                      "replicas",
                                      "expert",
                                      "expert_tensor",
                                      "reshard_ranks",
                                      "context",
                                      "context_algorithm",
                                      "vocabulary_multiple",
                                      "schedule",
                                      "order",
                                      "chunks",
                                      "cut",
                                      "microbatch",
                                      "microbatches",
                                      "zero",
                                      "reshard",
                                      "layers_per_unit",
                                      "sequence_parallel",
                                      "recompute",
                                      "recompute_scope",
                                      "offload_optimizer",
                                      "offload_parameters",
                                      "offload_activations",
                                      "offload_modules",
                                      "accumulation"};
std::string other_fields(const sim::ParallelPlan& plan) {
  sim::ParallelPlan usual = plan;  // what the program's runs do anyway is not unusual
  usual.overlap_weight_gather = plan.overlap_weight_gather && !plan.cluster.software.overlap_gather;
  const std::string text = sim::unusual_text(usual, kTold);
  return text.empty() ? "-" : text;
}

// Columns that stand behind "data" where some plan has such ranks.
struct RareColumn {
  std::string_view name;
  bool (*is_used)(const sim::ParallelPlan&);
  std::string (*cell)(const sim::ParallelPlan&);
};
constexpr RareColumn kRareColumns[] = {
    {"expert", [](const sim::ParallelPlan& plan) { return plan.mesh.expert > 1 || plan.mesh.cuts_experts_apart(); }, expert_name},
    {"context", [](const sim::ParallelPlan& plan) { return plan.mesh.context > 1; }, context_name},
    {"reduced", sim::reduces_each, reduction_name},
    {"otherwise", [](const sim::ParallelPlan& plan) { return other_fields(plan) != "-"; }, other_fields},
    {"on the host", [](const sim::ParallelPlan& plan) { return plan.offload_optimizer || plan.keeps_on_host(); }, host_name},
};
constexpr std::ptrdiff_t kBehindData = 2;

// plans[i] is what rows[i + 1] shows.
void add_rare_columns(std::vector<Row>& rows, const std::vector<const sim::ParallelPlan*>& plans) {
  for (const RareColumn& column : kRareColumns) {
    if (std::none_of(plans.begin(), plans.end(), [&](const sim::ParallelPlan* plan) { return column.is_used(*plan); })) continue;
    rows[0].insert(rows[0].begin() + kBehindData, std::string(column.name));
    for (std::size_t at = 0; at < plans.size(); ++at) rows[at + 1].insert(rows[at + 1].begin() + kBehindData, column.cell(*plans[at]));
  }
}

Row header() {
  return {"#",    "data",     "tensor", "pipeline", "schedule",    "microbatches", "zero",         "recompute", "sequence par.",
          "step", "tokens/s", "MFU",    "bubble",   "peak memory", "OOM chance",   "why not first"};
}

Row cells(std::size_t number, const planner::RankedPlan& ranked) {
  const sim::ParallelPlan& plan = ranked.plan;
  return {std::to_string(number),
          std::to_string(plan.mesh.data),
          std::to_string(plan.mesh.tensor),
          std::to_string(plan.mesh.pipeline),
          schedule_name(plan),
          fmt::format("{} x {}", plan.num_microbatches(), plan.microbatch_size),
          zero_name(plan),
          recompute_name(plan),
          plan.sequence_parallel ? "yes" : "no",
          sim::to_text(sim::to_seconds(ranked.result.step_time)),
          fmt::format("{:.0f}", ranked.result.tokens_per_second),
          sim::percent(ranked.result.mfu),
          sim::percent(ranked.result.bubble),
          sim::to_text(ranked.result.peak_memory),
          sim::percent(ranked.out_of_memory_chance),
          ranked.why_not_best};
}

// The fastest, the leanest, and evenly spread ones between; without reasons, which compare with the best alone.
std::string front(const std::vector<planner::RankedPlan>& plans) {
  std::vector<Row> rows{header()};
  std::vector<const sim::ParallelPlan*> drawn;
  const std::size_t shown = std::min(plans.size(), kShownOfFront);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t at = shown == 1 ? 0 : i * (plans.size() - 1) / (shown - 1);
    rows.push_back(cells(at + 1, plans[at]));
    drawn.push_back(&plans[at].plan);
  }
  add_rare_columns(rows, drawn);
  for (Row& row : rows) row.pop_back();
  const std::size_t hidden = plans.size() - shown;
  return table_text(rows) + (hidden > 0 ? fmt::format("and {} more between them: --json lists all\n", hidden) : "");
}

// Faster, but too near the edge.
std::string aside(const planner::RankedPlan& risky, bool has_best) {
  return fmt::format("{}: {}; {}: {}. --risk lets such plans compete\n", has_best ? "Faster, but left aside" : "Fits, but left aside",
                     plan_summary(risky.plan),
                     sim::to_text(sim::to_seconds(risky.result.step_time)) + ", " + sim::to_text(risky.result.peak_memory),
                     risky.why_not_best);
}

std::string title(const planner::SearchRequest& request) {
  return fmt::format("{} on {} x {}: sequence {}, global batch {}, {}; speed of {}\n", sim::family_and_size(request.model),
                     request.cluster.devices, request.cluster.hardware.name, request.workload.sequence, request.workload.global_batch,
                     sim::to_text(request.workload.precision), sim::whose_speed(request.cluster).program);
}

std::string doubt(const sim::ParallelPlan& plan) {
  const sim::PredictionInterval interval = sim::prediction_interval(plan);
  if (!interval.is_even())
    return fmt::format("Four of five measured steps lie from {:.0f} % below such predictions to {:.0f} % above them: {}\n",
                       100 * interval.below(), 100 * interval.above(), interval.basis);
  return fmt::format("Four of five measured steps lie within {:.0f} % of such predictions: {}\n", 100 * interval.half_width,
                     interval.basis);
}

}  // namespace

std::vector<Row> ranking_rows(const std::vector<planner::RankedPlan>& plans) {
  std::vector<Row> rows{header()};
  for (const planner::RankedPlan& plan : plans) rows.push_back(cells(rows.size(), plan));
  std::vector<const sim::ParallelPlan*> shown;
  for (const planner::RankedPlan& plan : plans) shown.push_back(&plan.plan);
  add_rare_columns(rows, shown);
  const auto devices = [](const sim::ParallelPlan* plan) { return plan->cluster.devices; };
  if (std::ranges::adjacent_find(shown, std::ranges::not_equal_to{}, devices) == shown.end()) return rows;
  rows[0].insert(rows[0].begin() + 1, "devices");
  for (std::size_t at = 0; at < shown.size(); ++at) rows[at + 1].insert(rows[at + 1].begin() + 1, std::to_string(devices(shown[at])));
  return rows;
}

std::vector<Row> measured_rows(const std::vector<planner::RankedPlan>& plans, planner::Objective objective) {
  std::vector<Row> rows = ranking_rows(plans);
  if (objective == planner::Objective::Step || objective == planner::Objective::Cost) return rows;
  const auto before = std::ranges::find(rows[0], "step") - rows[0].begin();
  rows[0].insert(rows[0].begin() + before, std::string(planner::words_of(objective).quantity));
  for (std::size_t at = 0; at < plans.size(); ++at)
    rows[at + 1].insert(rows[at + 1].begin() + before, planner::measure_text(objective, plans[at].measure));
  return rows;
}

namespace {

bool of_one_axis(const planner::Exclusion& a, const planner::Exclusion& b) {
  return a.family.substr(0, a.family.find('=')) == b.family.substr(0, b.family.find('='));
}

}  // namespace

// Families that are out for one reason but for its numbers are one line: "tensor=3 and 8 more". So are those of any axes whose reasons are the same to the number:
// they are out by the same plan, and their candidates are largely the same.
std::vector<Row> exclusion_rows(const std::vector<planner::Exclusion>& excluded) {
  struct Like {
    const planner::Exclusion* first;
    std::int64_t candidates = 0;
    std::size_t more = 0;
  };
  std::map<std::string, std::size_t> lines, same;
  std::vector<Like> all;
  for (const planner::Exclusion& one : excluded) {
    const auto [equal, is_first] = same.try_emplace(one.code + '\n' + one.reason + '\n' + one.nearest_fix, all.size());
    if (!is_first) {
      Like& line = all[equal->second];
      ++line.more;
      line.candidates = of_one_axis(*line.first, one) ? line.candidates + one.candidates : std::max(line.candidates, one.candidates);
      continue;
    }
    const auto [line, is_new] = lines.try_emplace(sim::without_numbers(one.family + '\n' + one.code + '\n' + one.reason), all.size());
    if (is_new) all.push_back({&one});
    if (!is_new) ++all[line->second].more;
    all[line->second].candidates += one.candidates;
    equal->second = line->second;
  }
  std::vector<Row> rows{{"family", "candidates", "because", "reason"}};
  for (const Like& like : all) {
    const planner::Exclusion& one = *like.first;
    rows.push_back({one.family + (like.more == 0 ? "" : fmt::format(" and {} more", like.more)), std::to_string(like.candidates), one.code,
                    one.reason + (one.nearest_fix.empty() ? "" : "; nearest fix: " + one.nearest_fix)});
  }
  return rows;
}

std::string margin_text(double gap) { return gap < kNoGap ? "" : fmt::format("more than {} ", sim::percent(1 - 1 / (1 + gap))); }

std::string nothing_better(planner::Objective objective, double gap) {
  if (objective == planner::Objective::Step) return fmt::format("no plan is {}faster", margin_text(gap));
  return fmt::format("no plan takes {}less {}", margin_text(gap), planner::words_of(objective).quantity);
}

std::string proof_in_short(const planner::SearchResult& result, planner::Objective objective) {
  const std::string all = result.open > 0 ? fmt::format(" of {}", grouped(result.candidates)) : "";
  std::string judged =
      fmt::format("{}{} plans judged, {} simulated", grouped(result.candidates - result.open), all, grouped(result.simulated));
  if (result.ranked.empty()) return judged;
  if (!result.gap) return fmt::format("{}; {} are left, nothing is proven", judged, grouped(result.open));
  return fmt::format("{}: {}{}", judged, nothing_better(objective, *result.gap),
                     result.open > 0 ? fmt::format(" ({} are left)", grouped(result.open)) : "");
}

std::string search_text(const planner::SearchRequest& request, const planner::SearchResult& result, const Console& console) {
  std::string text = console.heading(title(request));
  if (!result.ranked.empty())
    text += "\n" + console.heading("Best plans") + "\n" + table_text(measured_rows(result.ranked, request.objective)) +
            doubt(result.ranked.front().plan);
  for (const planner::RankedPlan& risky : result.risky) text += aside(risky, !result.ranked.empty());
  if (result.pareto.size() > 1)
    text += "\n" + console.heading(fmt::format("Pareto front: {} against memory", planner::words_of(request.objective).quantity)) + "\n" +
            front(result.pareto);
  if (!result.excluded.empty()) text += "\n" + console.heading("Left out") + "\n" + table_text(exclusion_rows(result.excluded));
  return text + fmt::format("\n{} candidates: {} infeasible, {} over memory, {} too risky, {} cannot win, {} simulated. {}\n",
                            result.candidates, result.infeasible, result.pruned_memory, result.pruned_risk, result.pruned_bound,
                            result.simulated, result.proof);
}

std::string workload_summary(const sim::ParallelPlan& plan) {
  constexpr std::string_view kSaid[] = {"sequence", "global_batch", "precision", "fp32_gradients"};
  const std::string more = sim::unusual_text(plan, kSaid, sim::FieldRole::Workload);
  return fmt::format("sequence {}, global batch {}, {}{}{}", plan.workload.sequence, plan.workload.global_batch,
                     sim::to_text(plan.workload.precision), more.empty() ? "" : ", ", more);
}

std::string plan_summary(const sim::ParallelPlan& plan) {
  const std::string context = plan.mesh.context > 1 ? fmt::format(" x context {}", context_name(plan)) : "";
  const std::string experts = plan.mesh.expert > 1 ? fmt::format(" (experts over {})", expert_name(plan)) : "";
  return fmt::format("data {}{}{} x tensor {} x pipeline {}, {}, {} of {}, zero {}{}, recompute {}{}", plan.mesh.data, context, experts,
                     plan.mesh.tensor, plan.mesh.pipeline, plan.mesh.pipeline > 1 ? schedule_name(plan) : "one stage",
                     sim::counted(plan.num_microbatches(), "microbatch"), plan.microbatch_size, zero_name(plan),
                     sim::reduces_each(plan) ? ", reduced each microbatch" : "", recompute_name(plan),
                     host_name(plan) == "-" ? "" : ", on the host: " + host_name(plan)) +
         (other_fields(plan) == "-" ? "" : ", " + other_fields(plan));
}

}  // namespace cli
