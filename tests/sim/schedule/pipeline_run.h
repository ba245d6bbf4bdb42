// A pipeline performed action by action, as real ranks would: sends are posted, receives wait. Written from the definition of a
// pipeline alone, so that it can judge every schedule. Times are integers: equal costs give exact closed forms.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/schedule/schedule.h"

namespace sim::testing {

struct Costs {
  std::int64_t forward = 1, backward = 1, weight = 1;
};

class PipelineRun {
 public:
  PipelineRun(const Schedule& schedule, PipelineShape shape, Costs costs = {})
      : shape_(shape), placement_(schedule.placement), costs_(costs) {
    for (StageIndex s(0); s.value() < shape.stages; ++s) orders_.push_back(schedule.order(shape, s));
    next_.resize(orders_.size());
    free_at_.resize(orders_.size());
    while (advance()) {
    }
  }

  bool completed() const {
    for (std::size_t s = 0; s < orders_.size(); ++s)
      if (next_[s] < orders_[s].size()) return false;
    return true;
  }
  std::int64_t duration() const { return *std::max_element(free_at_.begin(), free_at_.end()); }
  const std::vector<StageAction>& order(std::size_t stage) const { return orders_[stage]; }

 private:
  struct Work {  // one action on one virtual stage
    ActionKind kind;
    std::int32_t microbatch, slice;  // slice: -1 of whole samples
    std::int32_t virtual_stage;
    auto operator<=>(const Work&) const = default;
  };

  // A V goes down with even chunks and comes up with odd ones.
  std::int32_t place(std::int32_t stage, std::int32_t chunk) const {
    const bool up = placement_ == ChunkPlacement::V && chunk % 2 == 1;
    return up ? (chunk + 1) * shape_.stages - 1 - stage : chunk * shape_.stages + stage;
  }

  // What must have happened before, elsewhere or here. A slice reads keys and values of those in front of it; theirs are complete in the backward
  // when those behind have added to them.
  std::vector<Work> needs(const Work& work) const {
    const std::int32_t last = shape_.stages * shape_.chunks - 1;
    const auto other = [&](ActionKind kind, std::int32_t virtual_stage) { return Work{kind, work.microbatch, work.slice, virtual_stage}; };
    std::vector<Work> needed;
    if (work.kind == ActionKind::Forward) {
      if (work.virtual_stage > 0) needed.push_back(other(ActionKind::Forward, work.virtual_stage - 1));
      if (work.slice > 0) needed.push_back({ActionKind::Forward, work.microbatch, work.slice - 1, work.virtual_stage});
      return needed;
    }
    if (work.kind == ActionKind::Weight) return {other(ActionKind::Backward, work.virtual_stage)};
    needed.push_back(other(ActionKind::Forward, work.virtual_stage));
    if (work.virtual_stage < last) needed.push_back(other(ActionKind::Backward, work.virtual_stage + 1));
    if (work.slice >= 0 && work.slice + 1 < shape_.slices)
      needed.push_back({ActionKind::Backward, work.microbatch, work.slice + 1, work.virtual_stage});
    return needed;
  }

  bool perform_next(std::size_t stage) {
    if (next_[stage] == orders_[stage].size()) return false;
    const StageAction& action = orders_[stage][next_[stage]];
    const Work work{action.kind, action.microbatch.value(), action.slice.value(),
                    place(static_cast<std::int32_t>(stage), action.chunk.value())};
    std::int64_t start = free_at_[stage];
    for (const Work& needed : needs(work)) {
      const auto found = done_at_.find(needed);
      if (found == done_at_.end()) return false;
      start = std::max(start, found->second);
    }
    const std::int64_t costs[] = {costs_.forward, costs_.backward, costs_.weight};
    free_at_[stage] = start + costs[static_cast<std::size_t>(work.kind)];
    done_at_[work] = free_at_[stage];
    ++next_[stage];
    return true;
  }

  bool advance() {
    bool moved = false;
    for (std::size_t s = 0; s < orders_.size(); ++s)
      while (perform_next(s)) moved = true;
    return moved;
  }

  PipelineShape shape_;
  ChunkPlacement placement_;
  Costs costs_;
  std::vector<std::vector<StageAction>> orders_;
  std::vector<std::size_t> next_;
  std::vector<std::int64_t> free_at_;
  std::map<Work, std::int64_t> done_at_;
};

// Shapes that try the corners: one stage, fewer microbatches than stages, uneven groups.
inline std::vector<PipelineShape> many_shapes() {
  std::vector<PipelineShape> shapes;
  for (const std::int32_t p : {1, 2, 3, 4, 5, 8})
    for (std::int32_t m = 1; m <= 18; ++m)
      for (std::int32_t v = 1; v <= 4; ++v) shapes.push_back({p, m, v});
  shapes.push_back({16, 64, 2});
  shapes.push_back({64, 3, 1});
  return shapes;
}

// Samples in slices, of which many_shapes() has none.
inline std::vector<PipelineShape> sliced_shapes() {
  std::vector<PipelineShape> shapes;
  for (const std::int32_t p : {1, 2, 3, 4, 8})
    for (const std::int32_t m : {1, 2, 3, 5, 8})
      for (const std::int32_t v : {1, 2, 3})
        for (const std::int32_t n : {2, 3, 4, 7}) shapes.push_back({.stages = p, .microbatches = m, .chunks = v, .slices = n});
  return shapes;
}

}  // namespace sim::testing
