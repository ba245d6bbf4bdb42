#include "executor/model/token_exchange.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <numeric>

#include "executor/model/sent_to.h"
#include "sim/units/at.h"

namespace executor {
namespace {

// Where the rows of (rank, expert here) begin, and how many there are.
struct Stretch {
  std::int64_t begin = 0, count = 0;
};

// Arrived rows, expert by expert.
at::Tensor sorted_rows(const std::vector<std::vector<Stretch>>& by_expert, std::int64_t rows) {
  at::Tensor result = at::empty({rows}, at::kLong);
  auto* next = result.data_ptr<std::int64_t>();
  for (const auto& stretches : by_expert)
    for (const Stretch& stretch : stretches) {
      std::iota(next, next + stretch.count, stretch.begin);
      next += stretch.count;
    }
  return result;
}

at::Tensor inverse_of(const at::Tensor& order) {
  at::Tensor result = at::empty_like(order);
  for (std::int64_t at = 0; at < order.numel(); ++at) result.data_ptr<std::int64_t>()[order.const_data_ptr<std::int64_t>()[at]] = at;
  return result;
}

}  // namespace

std::int64_t TokenExchange::rows_here() const { return std::accumulate(held.begin(), held.end(), std::int64_t{0}); }

TokenExchange make_exchange(const at::Tensor& counts, const TensorPosition& position, c10::Device device) {
  const std::int64_t sharers = counts.dim() == 3 ? counts.size(0) : 1, ranks = counts.size(-2), experts = counts.size(-1),
                     mine = experts / ranks, own = position.expert_rank, part = sharers > 1 ? position.expert_part : 0;
  const auto rows = [&, numbers = counts.const_data_ptr<std::int64_t>()](std::int64_t sharer, std::int64_t rank, std::int64_t expert) {
    return numbers[(sharer * ranks + rank) * experts + expert];
  };
  // Context ranks, and tensor ranks that route apart, have stretches of one microbatch.
  const std::int64_t sources = ranks * sharers, apart = position.cuts_experts_apart() ? position.degree : 1,
                     together = std::gcd(sources, apart * position.context), batches = sources / together;
  TokenExchange exchange{.to = RowCounts(sim::count_of(ranks)),
                         .from = RowCounts(sim::count_of(ranks)),
                         .shared = RowCounts(sim::count_of(sharers)),
                         .held = RowCounts(sim::count_of(mine)),
                         .by_batch = RowCounts(sim::count_of(mine * batches)),
                         .sorted = {},
                         .arrived = {},
                         .ends = {}};
  std::vector<std::vector<Stretch>> by_expert(sim::count_of(mine), std::vector<Stretch>(sim::count_of(sources)));
  std::int64_t begin = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank)
    for (std::int64_t expert = 0; expert < mine; ++expert) {
      sim::at(exchange.to, rank) += rows(part, own, rank * mine + expert);
      sim::at(exchange.from, rank) += rows(part, rank, own * mine + expert);
    }
  for (std::int64_t sharer = 0; sharer < sharers; ++sharer)
    for (std::int64_t rank = 0; rank < ranks; ++rank)
      for (std::int64_t expert = 0; expert < mine; ++expert) {
        const std::int64_t count = rows(sharer, rank, own * mine + expert), source = rank * sharers + sharer;
        sim::at(exchange.shared, sharer) += count;
        sim::at(exchange.held, expert) += count;
        sim::at(exchange.by_batch, expert * batches + source / together) += count;
        sim::at(sim::at(by_expert, expert), source) = {begin, count};
        begin += count;
      }
  if (sources == 1 || (mine == 1 && (ranks == 1 || sharers == 1))) return exchange;
  const at::Tensor sorted = sorted_rows(by_expert, begin);
  exchange.arrived = sent_to(inverse_of(sorted), device);
  exchange.sorted = sent_to(sorted, device);
  return exchange;
}

}  // namespace executor
