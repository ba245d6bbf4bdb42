#include "sim/cost/context_balance.h"

#include <algorithm>
#include <numeric>

#include "sim/units/at.h"

namespace sim {

std::int32_t ranks_that_share(std::int64_t length, const ContextPool& pool) {
  std::int32_t ranks = 1;
  while (ranks < pool.context && ranks * pool.room < length) ranks *= 2;
  return std::min(ranks, pool.context);
}

// Neighbours that share a document do as much of it each. A block of a size that does not divide the pool is one of those that fit into it.
double fullest_over_mean(std::vector<PooledDocument> documents, const ContextPool& pool) {
  const auto each = [&](const PooledDocument& one) { return one.work / ranks_that_share(one.length, pool); };
  std::ranges::stable_sort(documents, std::ranges::greater{}, each);
  std::vector<double> load(count_of(pool.ranks));
  for (const PooledDocument& one : documents) {
    const auto size = static_cast<std::ptrdiff_t>(ranks_that_share(one.length, pool)), blocks = std::ssize(load) / size;
    const auto most_of = [&](std::ptrdiff_t block) {
      return *std::max_element(load.begin() + block * size, load.begin() + (block + 1) * size);
    };
    std::ptrdiff_t least = 0;
    for (std::ptrdiff_t block = 1; block < blocks; ++block) least = most_of(block) < most_of(least) ? block : least;
    const double most = most_of(least) + each(one);  // its ranks wait for each other
    std::fill(load.begin() + least * size, load.begin() + (least + 1) * size, most);
  }
  double work = 0;
  for (const PooledDocument& one : documents) work += one.work;
  return work > 0 ? *std::ranges::max_element(load) * pool.ranks / work : 1;
}

double share_that_travels(std::span<const PooledDocument> documents, const ContextPool& pool) {
  double sent = 0, tokens = 0;
  for (const PooledDocument& one : documents) {
    sent += static_cast<double>(one.length) * (ranks_that_share(one.length, pool) - 1);
    tokens += static_cast<double>(one.length) * (pool.context - 1);
  }
  return tokens > 0 ? sent / tokens : 0;
}

}  // namespace sim
