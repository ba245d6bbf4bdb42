#include "planner/layer_book.h"

#include "sim/cost/gradient_lifetime.h"

namespace planner {

// Of data, pipeline and microbatches: whether gradients are added up, and whether those of experts are; weights that are cast once a step; who shares the
// statistics of batch norms; the slowest of all ranks; whether there are stages, where a host takes longer for that; and, where runs were learned from, how like
// them a plan is.
LayerBook::Key LayerBook::key(const sim::ParallelPlan& plan, std::int64_t words, const Pricer::Lie& lie) {
  const sim::DeviceMesh& mesh = plan.mesh;
  const std::int64_t microbatches = plan.num_microbatches();
  const auto flag = [](bool is) { return std::int64_t{is ? 1 : 0}; };
  Key key{words,
          plan.microbatch_size,
          static_cast<std::int64_t>(plan.context_algorithm),
          flag(plan.splits_backward()),
          mesh.tensor,
          mesh.context,
          mesh.expert,
          mesh.expert_tensor,
          mesh.ranks(),
          flag(mesh.copies() > 1),
          flag(mesh.expert_copies() * mesh.replicas == 1),
          flag(microbatches > 1),
          flag(sim::reduces_each(plan)),
          plan.cluster.software.cached_fp8_weights ? microbatches : 0,
          plan.shares_statistics() ? mesh.data : 0};
  const sim::SoftwareStack& software = plan.cluster.software;
  const bool depends_on_stages = software.host_per_tensor_rank.count() > 0 || software.host_per_tensor_node.count() > 0;
  if (depends_on_stages) key.push_back(flag(mesh.pipeline > 1));
  if (!software.learned_runs.empty()) key.insert(key.end(), {mesh.data, mesh.pipeline, mesh.replicas, microbatches});
  key.insert(key.end(), lie.begin(), lie.end());
  return key;
}

std::optional<StageLayerPrices> LayerBook::find(const Key& key) const {
  const std::lock_guard lock(mutex_);
  const auto known = prices_.find(key);
  return known == prices_.end() ? std::nullopt : std::optional(known->second);
}

void LayerBook::add(const Key& key, const StageLayerPrices& prices) {
  const std::lock_guard lock(mutex_);
  prices_.emplace(key, prices);
}

}  // namespace planner
