#include "planner/candidates.h"

#include <algorithm>
#include <utility>

#include "sim/units/at.h"

namespace planner {

Candidates::Iterator& Candidates::Iterator::operator++() {
  if (++place_.index == all_->shapes_[place_.shape].end) ++place_.shape;
  return *this;
}

Candidates::Iterator Candidates::Iterator::operator++(int) {
  const Iterator before = *this;
  ++*this;
  return before;
}

Candidates::Iterator Candidates::from(std::size_t index) const {
  const auto shape = std::ranges::upper_bound(shapes_, index, {}, &Shape::end);
  return {this, {.shape = sim::position_in(shapes_, shape), .index = index}};
}

PlanCandidate Candidates::made(Place place) const {
  const Shape& of = shapes_[place.shape];
  PlanCandidate candidate = words_[of.words][place.index - of.begin];
  candidate.mesh = of.mesh;
  candidate.context_algorithm = of.context_algorithm;
  candidate.microbatch = of.microbatch;
  candidate.schedule = of.schedule;
  candidate.chunks = of.chunks;
  return candidate;
}

void Candidates::add(std::vector<PlanCandidate> of_one_shape) {
  if (of_one_shape.empty()) return;
  const PlanCandidate first = of_one_shape.front();
  for (PlanCandidate& one : of_one_shape) {
    const PlanCandidate none;
    one.mesh = none.mesh;
    one.context_algorithm = none.context_algorithm;
    one.microbatch = none.microbatch;
    one.schedule = none.schedule;
    one.chunks = none.chunks;
  }
  // Neighbours mostly have the same: the latest lists first.
  const auto same = std::find(words_.rbegin(), words_.rend(), of_one_shape);
  const std::size_t before = size();
  Shape shape{.mesh = first.mesh,
              .context_algorithm = first.context_algorithm,
              .microbatch = first.microbatch,
              .schedule = first.schedule,
              .chunks = first.chunks,
              .begin = before,
              .end = before + of_one_shape.size(),
              .words = same == words_.rend() ? words_.size() : static_cast<std::size_t>(words_.rend() - same) - 1};
  if (same == words_.rend()) words_.push_back(std::move(of_one_shape));
  shapes_.push_back(shape);
}

}  // namespace planner
