#include "executor/communication/rank_sum.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <type_traits>

namespace executor {
namespace {

constexpr std::int64_t kBlock = 1024;  // elements summed before they are written back: result may be a source

template <class Element>
using Accumulator = std::conditional_t<(sizeof(Element) < 4), float, Element>;

template <class Number>
Number larger(Number a, Number b) {
  return (a > b || a != a) ? a : b;  // a != a: NaN
}

template <class Element, ReduceOperation kOperation>
void reduce_block(Element* result, std::span<const std::byte* const> sources, std::int64_t first, std::int64_t count) {
  using Sum = Accumulator<Element>;
  const auto source = [&](std::size_t rank) { return reinterpret_cast<const Element*>(sources[rank]) + first; };
  std::array<Sum, kBlock> sum;
  const Element* start = source(0);
  for (std::int64_t i = 0; i < count; ++i) sum[i] = static_cast<Sum>(start[i]);
  for (std::size_t rank = 1; rank < sources.size(); ++rank) {
    const Element* next = source(rank);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<Sum>(next[i]);
      sum[i] = kOperation == ReduceOperation::Sum ? sum[i] + value : larger(sum[i], value);
    }
  }
  for (std::int64_t i = 0; i < count; ++i) result[first + i] = static_cast<Element>(sum[i]);
}

template <class Element>
void reduce(const ReductionPiece& piece, ReduceOperation operation) {
  auto* result = reinterpret_cast<Element*>(piece.result);
  for (std::int64_t first = 0; first < piece.elements; first += kBlock) {
    const std::int64_t count = std::min(kBlock, piece.elements - first);
    if (operation == ReduceOperation::Sum)
      reduce_block<Element, ReduceOperation::Sum>(result, piece.sources, first, count);
    else
      reduce_block<Element, ReduceOperation::Maximum>(result, piece.sources, first, count);
  }
}

}  // namespace

void reduce_in_rank_order(const ReductionPiece& piece, c10::ScalarType type, ReduceOperation operation) {
  switch (type) {
    case c10::ScalarType::Double: return reduce<double>(piece, operation);
    case c10::ScalarType::Float: return reduce<float>(piece, operation);
    case c10::ScalarType::Long: return reduce<std::int64_t>(piece, operation);
    case c10::ScalarType::BFloat16: return reduce<c10::BFloat16>(piece, operation);
    case c10::ScalarType::Half: return reduce<c10::Half>(piece, operation);
    default: throw std::invalid_argument(fmt::format("no reduction of {} tensors", c10::toString(type)));
  }
}

}  // namespace executor
