#include "planner/meshes.h"

#include <algorithm>

namespace planner {

Meshes::Meshes(const SearchRequest& request, const sim::ModelGraph& model, const Candidates& candidates) : candidates_(candidates.size()) {
  sim::DeviceMesh before;
  for (auto at = candidates.begin(); at != candidates.end(); at = candidates.from(at.shape_end())) {
    const sim::DeviceMesh mesh = (*at).mesh;
    if (first_.empty() || !(mesh == before)) first_.push_back(at.index());
    before = mesh;
  }
  for (std::size_t mesh = 0; mesh < size(); ++mesh) evaluators_.push_back(std::make_unique<Evaluator>(request, model, &book_));
}

std::size_t Meshes::of(std::int64_t candidate) const {
  const auto next = std::upper_bound(first_.begin(), first_.end(), static_cast<std::size_t>(candidate));
  return static_cast<std::size_t>(next - first_.begin()) - 1;
}

}  // namespace planner
