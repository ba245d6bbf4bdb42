// Prices of layers by all that they depend on, shared by the evaluators of a search: meshes that differ in data and pipeline degrees alone ask for the same.
// From several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>
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
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash = key.size();
      for (const std::int64_t word : key) {
        hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
      }
      return static_cast<std::size_t>(hash);
    }
  };
  std::unordered_map<Key, StageLayerPrices, Hash> prices_;  // looked up, never walked through
};

}  // namespace planner
