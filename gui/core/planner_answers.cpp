#include "gui/core/planner_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/improvements.h"
#include "planner/what_if.h"
#include "sim/cost/prediction_interval.h"
#include "sim/engine/out_of_memory.h"
#include "sim/plan/plan_fields.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

std::string stepText(sim::SimTime time) { return sim::to_text(sim::to_seconds(time)); }

// Part `part` of `parts` of the answer is a search.
struct SearchPart {
  std::size_t part = 0, parts = 1;
};
planner::SearchResult searched(const planner::SearchRequest& request, const Asking& asking, const SearchPart& part) {
  const auto progress = [&](planner::SearchProgress now) {
    const double share = now.all > 0 ? static_cast<double>(now.done) / static_cast<double>(now.all) : 0;
    asking.share = (static_cast<double>(part.part) + share) / static_cast<double>(part.parts);
  };
  return planner::search(request, progress, &asking.cancelled);
}

Variant variantOf(std::string name, const sim::ParallelPlan& plan, const sim::SimulationResult& result, const SimulatedPlan& now) {
  Variant variant{.name = std::move(name), .plan = plan};
  takeResult(variant, result, now);
  return variant;
}

Variant asItIs(const SimulatedPlan& now) {
  Variant variant = variantOf("as it is", now.plan, now.result, now);
  variant.is_now = true;
  return variant;
}

// "microbatch=2, recompute=none"
std::string changesText(const planner::Improvement& change) {
  std::string text;
  for (const std::string& name : change.changed)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, sim::to_text(sim::plan_field(name).access.get(change.plan)));
  return text;
}

Answer saying(std::string_view sentence, std::vector<std::string> arguments, std::vector<Variant> variants) {
  return {.sentence = sentence, .arguments = std::move(arguments), .variants = std::move(variants), .parts = {}};
}

}  // namespace

void takeResult(Variant& variant, const sim::SimulationResult& result, const SimulatedPlan& now) {
  variant.step_time = result.step_time;
  variant.peak_memory = result.peak_memory;
  variant.host_memory = result.host_memory;
  variant.tokens_per_second = result.tokens_per_second;
  variant.fits = result.fits;
  variant.out_of_memory_chance = sim::out_of_memory_chance(variant.plan, result);
  const sim::Workload &asked = now.plan.workload, &answered = variant.plan.workload;
  if (asked.global_batch == answered.global_batch && asked.sequence == answered.sequence &&
      now.plan.cluster.devices == variant.plan.cluster.devices && sim::plan_hash(now.plan) != sim::plan_hash(variant.plan))
    variant.faster_chance =
        sim::chance_faster({variant.plan, sim::to_seconds(result.step_time)}, {now.plan, sim::to_seconds(now.result.step_time)});
}

Answer bestChanges(const SimulatedPlan& now, const Asking& asking) {
  std::vector<Variant> variants = {asItIs(now)};
  if (asking.isGivenUp()) return saying("None was looked for.", {}, std::move(variants));
  const planner::Improvements found = planner::improvements(planner::request_like(now.plan), {now.plan, now.result});
  for (const std::vector<planner::Improvement>* changes : {&found.one, &found.two})
    for (const planner::Improvement& change : *changes) variants.push_back(variantOf(changesText(change), change.plan, change.result, now));
  if (variants.size() == 1)
    return saying("None: of %1 plans within two settings of this one none is faster and safe; %2 of them were simulated.",
                  {std::to_string(found.neighbors), std::to_string(found.simulated)}, std::move(variants));
  const Variant& best =
      *std::min_element(variants.begin() + 1, variants.end(), [](const Variant& a, const Variant& b) { return a.step_time < b.step_time; });
  return saying(now.result.fits ? "The fastest: %1, with %2 a step (now %3); that it is truly faster has a chance of %4."
                                : "The fastest that makes it fit: %1, with %2 a step (now %3).",
                {best.name, stepText(best.step_time), stepText(now.result.step_time), sim::percent(best.faster_chance.value_or(0))},
                std::move(variants));
}

Answer bestPlans(const SimulatedPlan& now, const Asking& asking) {
  planner::SearchRequest request = planner::request_like(now.plan);
  request.front = false;
  const planner::SearchResult found = searched(request, asking, {});
  std::vector<Variant> variants = {asItIs(now)};
  for (const planner::RankedPlan& plan : found.ranked) variants.push_back(variantOf(summaryOf(plan.plan), plan.plan, plan.result, now));
  if (found.ranked.empty()) return saying("No plan is feasible.", {}, std::move(variants));
  const sim::SimTime best = found.ranked.front().result.step_time;
  const std::string gap = found.gap ? sim::percent(*found.gap) : "-";
  if (now.result.fits && now.result.step_time <= best)
    return saying("None was found: the best takes %1 a step, this one %2; of %3 plans none is more than %4 faster, proven.",
                  {stepText(best), stepText(now.result.step_time), std::to_string(found.candidates), gap}, std::move(variants));
  return saying("The best takes %1 a step (now %2); of %3 plans none is more than %4 faster, proven.",
                {stepText(best), stepText(now.result.step_time), std::to_string(found.candidates), gap}, std::move(variants));
}

Answer worthOfMore(const SimulatedPlan& now, const Asking& asking) {
  planner::SearchRequest request = planner::request_like(now.plan);
  request.front = false;
  request.top = 1;
  std::vector<planner::WhatIf> asked = planner::what_ifs(request);
  asked.insert(asked.begin(), {"the best plan as things are", request});
  std::vector<Variant> variants;
  for (std::size_t at = 0; at < asked.size() && !asking.isGivenUp(); ++at) {
    const planner::SearchResult found = searched(asked[at].request, asking, {at, asked.size()});
    if (found.ranked.empty())
      variants.push_back({.name = asked[at].words, .plan = now.plan, .why_not = "no plan is feasible"});
    else
      variants.push_back(variantOf(asked[at].words, found.ranked.front().plan, found.ranked.front().result, now));
  }
  if (variants.empty() || !variants.front().why_not.empty()) return saying("No plan is feasible.", {}, std::move(variants));
  variants.front().is_now = true;  // what the others stand beside
  const Variant& most = *std::max_element(variants.begin(), variants.end(),
                                          [](const Variant& a, const Variant& b) { return a.tokens_per_second < b.tokens_per_second; });
  if (most.is_now) return saying("Nothing of this makes a token cheaper.", {}, std::move(variants));
  const double gain = most.tokens_per_second / variants.front().tokens_per_second - 1;
  return saying("Most: %1, with %2 more tokens/s than the best plan as things are.", {most.name, sim::percent(gain)}, std::move(variants));
}

}  // namespace gui
