#include "executor/communication/row_exchange.h"

#include <fmt/format.h>

#include <stdexcept>

#include "sim/units/at.h"

namespace executor {
namespace {

void require_chunks(const at::Tensor& received, const at::Tensor& sent, std::int32_t chunks) {
  const bool alike = received.numel() == sent.numel() && received.scalar_type() == sent.scalar_type();
  if (alike && sent.numel() % chunks == 0 && sent.is_contiguous() && received.is_contiguous()) return;
  throw std::invalid_argument(
      fmt::format("{} elements are sent and {} received: not {} contiguous chunks of one type", sent.numel(), received.numel(), chunks));
}

}  // namespace

RowExchange even_exchange(const at::Tensor& received, const at::Tensor& sent, std::int32_t ranks) {
  require_chunks(received, sent, ranks);
  const std::vector<std::int64_t> each(sim::count_of(ranks), 1);
  return {.sent = sent.view({ranks, -1}), .received = received.view({ranks, -1}), .to = each, .from = each};
}

RowExchange ring_exchange(const at::Tensor& received, const at::Tensor& sent, RingPlace here) {
  require_chunks(received, sent, 1);
  RowExchange rows{.sent = sent.view({1, -1}), .received = received.view({1, -1}), .to = {}, .from = {}};
  rows.to.resize(sim::count_of(here.size));
  rows.from.resize(sim::count_of(here.size));
  sim::at(rows.to, (here.rank + 1) % here.size) = 1;
  sim::at(rows.from, (here.rank + here.size - 1) % here.size) = 1;
  return rows;
}

}  // namespace executor
