#include "sim/schedule/searched_order.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "sim/schedule/zero_bubble.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr SimTime kUnknown(-1);
constexpr std::int32_t kWhole = 100;  // percent of a microbatch's memory

struct Rule {
  std::int32_t warm_percent = 100;  // forwards that may be ahead of backwards, for each stage behind this one, beside one
  std::int32_t gap_percent = 100;   // of a weight pass that must fit before the next arrival
  bool forward_first = false;
};

std::vector<Rule> all_rules() {
  std::vector<Rule> rules;
  for (const std::int32_t warm : {75, 100, 125, 150, 175, 200, 250, 300, 400})
    for (const std::int32_t gap : {0, 25, 50, 75, 100})
      for (const bool forward_first : {false, true}) rules.push_back({warm, gap, forward_first});
  return rules;
}

std::int32_t taken(ActionKind kind, std::int32_t waiting) {
  if (kind == ActionKind::Forward) return kWhole;
  return kind == ActionKind::Backward ? waiting - kWhole : -waiting;
}

// Stages decide in the order of time what they do next; times of arrival are known once the pass that is read has begun.
class RulePlay {
 public:
  RulePlay(const OrderProblem& problem, const Rule& rule) : problem_(problem), rule_(rule), stages_(problem.times.stages.size()) {
    const auto each = count_of(problem.shape.microbatches);
    for (Stage& stage : stages_) stage.forwards.assign(each, kUnknown), stage.backwards.assign(each, kUnknown);
    std::ranges::fill(stages_.front().forwards, SimTime(0));
    for (std::size_t at = 0; at < stages_.size(); ++at) events_.insert({SimTime(0), at});
  }

  // None: a rule that gets stuck.
  StageOrders orders() && {
    while (!events_.empty()) {
      const auto [time, stage] = *events_.begin();
      events_.erase(events_.begin());
      if (stages_[stage].free <= time) decide(stage, time);
    }
    StageOrders found;
    for (Stage& stage : stages_) found.push_back(std::move(stage.order));
    for (const auto& order : found)
      if (order.size() != 3 * count_of(problem_.shape.microbatches)) return {};
    return found;
  }

 private:
  struct Stage {
    std::vector<SimTime> forwards, backwards;  // arrivals by microbatch
    std::array<std::int32_t, 3> done{};        // passes by kind
    std::int32_t held = 0;                     // percent
    SimTime free{};
    std::vector<StageAction> order;
  };

  std::int32_t ahead(std::size_t stage) const {
    const auto behind = static_cast<std::int32_t>(stages_.size() - 1 - stage);
    return 1 + (rule_.warm_percent * behind + kWhole - 1) / kWhole;
  }
  std::int32_t done(const Stage& stage, ActionKind kind) const { return sim::at(stage.done, kind); }
  SimTime arrival(const Stage& stage, ActionKind kind) const {
    const std::int32_t next = done(stage, kind);
    if (next == problem_.shape.microbatches) return kUnknown;
    return sim::at(kind == ActionKind::Forward ? stage.forwards : stage.backwards, next);
  }
  bool is_here(const Stage& stage, ActionKind kind, SimTime time) const {
    const SimTime at = arrival(stage, kind);
    return at != kUnknown && at <= time;
  }

  void decide(std::size_t at, SimTime time) {
    Stage& stage = stages_[at];
    const bool has_room = stage.held + kWhole <= problem_.memory[at].limit;
    const bool may_forward = done(stage, ActionKind::Forward) - done(stage, ActionKind::Backward) < ahead(at) && has_room;
    const bool forward = may_forward && is_here(stage, ActionKind::Forward, time), backward = is_here(stage, ActionKind::Backward, time);
    if (forward && (rule_.forward_first || !backward)) return perform(at, time, ActionKind::Forward);
    if (backward) return perform(at, time, ActionKind::Backward);
    if (done(stage, ActionKind::Weight) == done(stage, ActionKind::Backward)) return;
    SimTime next = arrival(stage, ActionKind::Backward);
    const SimTime of_forward = may_forward ? arrival(stage, ActionKind::Forward) : kUnknown;
    if (next == kUnknown || (of_forward != kUnknown && of_forward < next)) next = of_forward;
    const SimTime needed = problem_.times.stages[at].weight * rule_.gap_percent / kWhole;
    if (next == kUnknown || next - time >= needed) return perform(at, time, ActionKind::Weight);
    events_.insert({next, at});
  }

  void perform(std::size_t at, SimTime time, ActionKind kind) {
    Stage& stage = stages_[at];
    const MicrobatchIndex microbatch(sim::at(stage.done, kind)++);
    stage.order.push_back({kind, microbatch, ChunkIndex(0)});
    stage.held += taken(kind, problem_.memory[at].waiting);
    stage.free = time + problem_.times.stages[at].of(kind);
    events_.insert({stage.free, at});
    const SimTime there = stage.free + problem_.times.transfer;
    if (kind == ActionKind::Forward && at + 1 < stages_.size()) arrive(at + 1, stages_[at + 1].forwards, {there, microbatch});
    if (kind == ActionKind::Forward && at + 1 == stages_.size()) arrive(at, stage.backwards, {stage.free, microbatch});
    if (kind == ActionKind::Backward && at > 0) arrive(at - 1, stages_[at - 1].backwards, {there, microbatch});
  }

  struct Arrival {
    SimTime time{};
    MicrobatchIndex microbatch;
  };
  void arrive(std::size_t at, std::vector<SimTime>& arrivals, const Arrival& arrival) {
    arrivals[arrival.microbatch.position()] = arrival.time;
    events_.insert({arrival.time, at});
  }

  const OrderProblem& problem_;
  const Rule& rule_;
  std::vector<Stage> stages_;
  std::set<std::pair<SimTime, std::size_t>> events_;
};

struct Found {
  StageOrders orders;
  SimTime step = kUnknown;  // none yet
};

bool fits(const OrderProblem& problem, const StageOrders& orders, std::size_t stage) {
  return percent_held(orders[stage], problem.memory[stage]) <= problem.memory[stage].limit;
}
bool fits(const OrderProblem& problem, const StageOrders& orders) {
  for (std::size_t stage = 0; stage < orders.size(); ++stage)
    if (!fits(problem, orders, stage)) return false;
  return true;
}

void keep_better(const OrderProblem& problem, StageOrders orders, Found& best) {
  if (orders.empty() || !fits(problem, orders)) return;
  const std::optional<SimTime> step = step_time_of(orders, problem.times, problem.end);
  if (step && (best.step == kUnknown || *step < best.step)) best = {std::move(orders), *step};
}

StageOrders orders_of(const Schedule& row, PipelineShape shape) {
  StageOrders orders;
  for (StageIndex stage(0); stage.value() < shape.stages; ++stage) orders.push_back(row.order(shape, stage));
  return orders;
}

// Two neighbours on a stage change places where neither reads the other, memory holds and the step is shorter; again and again until none does, or as
// many actions were played as a second or two take.
class Exchange {
 public:
  Exchange(const OrderProblem& problem, Found& best) : problem_(problem), best_(best) {
    left_ = kMostPlayed / static_cast<std::int64_t>(best.orders.size() * best.orders.front().size());
  }
  void run() {
    const SimTime least = work_of(problem_.times, problem_.shape);
    for (bool bettered = true; bettered && left_ > 0 && best_.step > least;) {
      bettered = false;
      for (std::size_t stage = 0; stage < best_.orders.size(); ++stage)
        for (std::size_t at = 0; at + 1 < best_.orders[stage].size(); ++at) bettered |= left_ > 0 && betters(stage, at);
    }
  }

 private:
  static constexpr std::int64_t kMostPlayed = 40'000'000;  // actions

  bool betters(std::size_t stage, std::size_t at) {
    StageAction &first = best_.orders[stage][at], &second = best_.orders[stage][at + 1];
    if (first.kind == second.kind || first.microbatch == second.microbatch) return false;
    --left_;
    std::swap(first, second);
    std::optional<SimTime> step;
    if (fits(problem_, best_.orders, stage)) step = step_time_of(best_.orders, problem_.times, problem_.end);
    const bool is_better = step && *step < best_.step;
    if (is_better)
      best_.step = *step;
    else
      std::swap(first, second);
    return is_better;
  }

  const OrderProblem& problem_;
  Found& best_;
  std::int64_t left_ = 0;  // steps to play
};

}  // namespace

std::int32_t percent_held(const std::vector<StageAction>& order, const StageMemory& memory) {
  std::int32_t held = 0, most = 0;
  for (const StageAction& action : order) most = std::max(most, held += taken(action.kind, memory.waiting));
  return most;
}

OrderTable searched_order(const OrderProblem& problem) {
  Found best;
  if (problem.shape.stages > 1)
    for (const Schedule* row : {&kZb2pSchedule, &kZb1pSchedule}) keep_better(problem, orders_of(*row, problem.shape), best);
  for (const Rule& rule : all_rules()) keep_better(problem, RulePlay(problem, rule).orders(), best);
  Exchange(problem, best).run();
  return {.stages = std::move(best.orders), .chunks = 1, .microbatches = problem.shape.microbatches, .splits_backward = true};
}

}  // namespace sim
