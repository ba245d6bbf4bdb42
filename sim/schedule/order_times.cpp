#include "sim/schedule/order_times.h"

#include <algorithm>

#include "sim/units/at.h"

namespace sim {
namespace {

constexpr SimTime kNever(-1);

// One step of all stages, from when each is free.
class StepPlay {
 public:
  StepPlay(const StageOrders& orders, const PipelineTimes& times, std::vector<SimTime>& free)
      : orders_(orders), times_(times), free_(free), next_(orders.size(), 0), done_(orders.size()) {
    for (std::size_t stage = 0; stage < orders.size(); ++stage) done_[stage].assign(orders[stage].size(), kNever);
  }

  bool completes() {
    std::size_t left = 0;
    for (const auto& order : orders_) left += order.size();
    for (bool moved = true; moved && left > 0;) {
      moved = false;
      for (std::size_t along = 0; along < orders_.size(); ++along)
        while (perform_next(along)) moved = true, --left;
    }
    return left == 0;
  }

 private:
  // By stage: forwards, then gradients of inputs; weights need no place, as their stage performs them behind what they read.
  std::size_t place(ActionKind kind, MicrobatchIndex microbatch) const {
    const std::size_t microbatches = orders_.front().size() / 3;
    return microbatch.position() + (kind == ActionKind::Backward ? microbatches : kind == ActionKind::Weight ? 2 * microbatches : 0);
  }
  SimTime done(std::size_t stage, ActionKind kind, MicrobatchIndex microbatch) const { return done_[stage][place(kind, microbatch)]; }

  // When what it reads is here; never: not yet done.
  SimTime ready(std::size_t stage, const StageAction& action) const {
    const auto from = [&](std::size_t other, ActionKind kind) {
      const SimTime end = done(other, kind, action.microbatch);
      return end == kNever || other == stage ? end : end + times_.transfer;
    };
    if (action.kind == ActionKind::Weight) return from(stage, ActionKind::Backward);
    if (action.kind == ActionKind::Forward) return stage == 0 ? SimTime(0) : from(stage - 1, ActionKind::Forward);
    const SimTime own = from(stage, ActionKind::Forward);
    if (own == kNever || stage + 1 == orders_.size()) return own;
    const SimTime above = from(stage + 1, ActionKind::Backward);
    return above == kNever ? kNever : std::max(own, above);
  }

  bool perform_next(std::size_t stage) {
    if (next_[stage] == orders_[stage].size()) return false;
    const StageAction& action = orders_[stage][next_[stage]];
    const SimTime from = ready(stage, action);
    if (from == kNever) return false;
    free_[stage] = std::max(free_[stage], from) + times_.stages[stage].of(action.kind);
    done_[stage][place(action.kind, action.microbatch)] = free_[stage];
    ++next_[stage];
    return true;
  }

  const StageOrders& orders_;
  const PipelineTimes& times_;
  std::vector<SimTime>& free_;
  std::vector<std::size_t> next_;
  std::vector<std::vector<SimTime>> done_;
};

}  // namespace

std::optional<SimTime> step_time_of(const StageOrders& orders, const PipelineTimes& times, StepEnd end) {
  std::vector<SimTime> free(orders.size(), SimTime(0));
  const auto latest = [&] { return *std::ranges::max_element(free); };
  if (!StepPlay(orders, times, free).completes()) return std::nullopt;
  if (end == StepEnd::Barrier) return latest();
  constexpr std::int32_t kBefore = 2, kMeasured = 2;
  for (std::int32_t step = 1; step < kBefore; ++step) StepPlay(orders, times, free).completes();
  const SimTime before = latest();
  for (std::int32_t step = 0; step < kMeasured; ++step) StepPlay(orders, times, free).completes();
  return (latest() - before) / kMeasured;
}

SimTime work_of(const PipelineTimes& times, PipelineShape shape) {
  SimTime most{};
  for (const PassTimes& stage : times.stages) most = std::max(most, stage.forward + stage.backward + stage.weight);
  return most * shape.microbatches;
}

}  // namespace sim
