#include "planner/simulations.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <numeric>

namespace planner {

// The largest first: nobody waits for one long simulation at the end.
std::vector<Simulated> simulate_all(const sim::ModelGraph& model, const std::vector<sim::ParallelPlan>& plans,
                                    const std::atomic<bool>* cancel) {
  const auto size = [&](std::size_t at) { return std::int64_t{plans[at].mesh.pipeline} * plans[at].chunks * plans[at].num_pieces(); };
  std::vector<std::size_t> order(plans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  std::vector<Simulated> results(plans.size());
  std::atomic<std::size_t> next{0};
  tbb::parallel_for(std::size_t{0}, plans.size(), [&](std::size_t) {
    const std::size_t at = order[next++];
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) return;
    try {
      results[at].result = sim::simulate(model, plans[at]);
    } catch (const sim::InputError& error) {
      results[at].refused = error;
    }
  });
  return results;
}

}  // namespace planner
