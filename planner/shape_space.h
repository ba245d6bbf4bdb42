// The shapes of a mesh: how samples are cut over context ranks, microbatches, the order of the pipeline and its chunks. What is left to choose of a shape are
// words (sharding_space.h, host_space.h, recomputation.h, expert_space.h).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "planner/exclusion.h"
#include "planner/fixed_axes.h"
#include "planner/sayable.h"
#include "planner/search.h"

namespace planner {

class ShapeSpace {
 public:
  ShapeSpace(const SearchRequest& request, const FixedAxes& fixed, std::vector<Exclusion>& excluded,
             UnsayableFamilies& unsayable);  // all must outlive it

  using Visit = std::function<void(const PlanCandidate&)>;
  // Each of the mesh, in a fixed order; refusals of schedules and chunks between are added to `refusals`.
  void visit(const sim::DeviceMesh& mesh, std::vector<Reason>& refusals, const Visit& visit);
  // Nothing of the mesh is possible, because of this.
  void exclude_mesh(const sim::DeviceMesh& mesh, const Reason& why);

 private:
  std::vector<std::int32_t> microbatches(const sim::DeviceMesh& mesh);
  std::vector<sim::ContextAlgorithm> context_algorithms(const sim::DeviceMesh& mesh);
  struct Found {
    std::vector<Reason>& refusals;
    const Visit& visit;
  };
  void add_schedules(const PlanCandidate& shape, const Found& found);
  void add_chunks(const PlanCandidate& shape, std::int32_t microbatches, const Found& found);
  std::optional<Reason> why_not_chunks(const PlanCandidate& shape, std::int32_t microbatches) const;
  bool is_performed(std::size_t schedule, const sim::DeviceMesh& mesh);
  bool is_choice(std::string_view schedule, const sim::DeviceMesh& mesh, std::int32_t microbatches) const;

  const SearchRequest& request_;
  const FixedAxes& fixed_;
  std::vector<Exclusion>& excluded_;
  UnsayableFamilies& unsayable_;
  std::map<std::size_t, bool> performed_;  // by row of all_schedules(): those that were asked for
};

}  // namespace planner
