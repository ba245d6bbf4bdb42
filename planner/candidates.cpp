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
  candidate.expert_overlap = of.expert_overlap;
  return candidate;
}

std::optional<std::size_t> Candidates::add(std::vector<PlanCandidate> of_one_shape) {
  if (of_one_shape.empty()) return std::nullopt;
  const PlanCandidate first = of_one_shape.front();
  for (PlanCandidate& one : of_one_shape) take_shape(one, {});
  // Neighbours mostly have the same: the latest lists first.
  const auto same = std::find(words_.rbegin(), words_.rend(), of_one_shape);
  const std::size_t words = same == words_.rend() ? words_.size() : sim::position_in(words_, same.base()) - 1;
  if (same == words_.rend()) words_.push_back(std::move(of_one_shape));
  add(first, words);
  return words;
}

void Candidates::add(const PlanCandidate& of_shape, std::size_t words) {
  const std::size_t before = size();
  shapes_.push_back({.mesh = of_shape.mesh,
                     .context_algorithm = of_shape.context_algorithm,
                     .microbatch = of_shape.microbatch,
                     .schedule = of_shape.schedule,
                     .chunks = of_shape.chunks,
                     .expert_overlap = of_shape.expert_overlap,
                     .begin = before,
                     .end = before + words_[words].size(),
                     .words = words});
}

}  // namespace planner
