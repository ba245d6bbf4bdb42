// Prices of layers by all that they depend on, shared by the evaluators of a search: meshes that differ in data and pipeline degrees alone ask for the same.
// From several threads.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "planner/plan_prices.h"

namespace planner {

class LayerBook {
 public:
  using Key = std::vector<std::int64_t>;
  // Of the plan on a stage whose groups lie so: words that change the work of a microbatch are told by their number.
  static Key key(const sim::ParallelPlan& plan, std::int64_t words, const Pricer::Lie& lie);

  std::optional<StageLayerPrices> find(const Key& key) const;
  void add(const Key& key, const StageLayerPrices& prices);

 private:
  mutable std::mutex mutex_;
  std::map<Key, StageLayerPrices> prices_;
};

}  // namespace planner
