#include "executor/training/document_order.h"

#include <algorithm>
#include <numeric>

#include "sim/units/at.h"

namespace executor {
namespace {

struct Share {
  std::int64_t room = 0;  // tokens
  double work = 0;        // pairs of a query and a key
};

double pairs_of(std::int64_t tokens) { return static_cast<double>(tokens) * static_cast<double>(tokens); }

std::int64_t tokens_of(std::span<const DocumentRows> documents) {
  return std::accumulate(documents.begin(), documents.end(), std::int64_t{0},
                         [](std::int64_t sum, const DocumentRows& one) { return sum + one.count; });
}

// By the rank that each is for; what none has room for stands last.
using Dealt = std::vector<std::vector<DocumentRows>>;

Dealt deal_whole(std::span<const DocumentRows> documents, std::vector<Share> shares) {
  Dealt dealt(shares.size() + 1);
  for (const DocumentRows& one : documents) {
    auto least = shares.end();
    for (auto share = shares.begin(); share != shares.end(); ++share)
      if (share->room >= one.count && (least == shares.end() || share->work < least->work)) least = share;
    dealt[sim::count_of(least - shares.begin())].push_back(one);
    if (least != shares.end()) *least = {.room = least->room - one.count, .work = least->work + pairs_of(one.count)};
  }
  return dealt;
}

struct Order {
  std::vector<DocumentRows> documents;
  std::int64_t room = 0;  // of the rank that comes next; below 0: the last document goes on through it
};
enum class Fit : std::uint8_t { Whole, Any };

void take(Order& order, std::vector<DocumentRows>& from, Fit fit) {
  for (auto one = from.begin(); one != from.end() && order.room > 0;) {
    const bool goes_on = one->count > order.room;
    if (goes_on && fit == Fit::Whole) {
      ++one;
      continue;
    }
    order.documents.push_back(*one);
    order.room -= one->count;
    one = from.erase(one);
  }
}

// What is the rank's own and fits; then what no rank had room for, the last of it beyond the rank's end; at last what is for the ranks behind.
void fill(Order& order, Dealt& dealt, std::size_t rank) {
  std::vector<DocumentRows>& own = dealt[rank];
  take(order, own, Fit::Whole);
  dealt.back().insert(dealt.back().end(), own.begin(), own.end());
  own.clear();
  take(order, dealt.back(), Fit::Whole);
  take(order, dealt.back(), Fit::Any);
  for (std::size_t behind = rank + 1; behind + 1 < dealt.size(); ++behind)
    for (const Fit fit : {Fit::Whole, Fit::Any}) take(order, dealt[behind], fit);
}

}  // namespace

std::vector<DocumentRows> order_of(std::span<const DocumentRows> documents, std::int64_t ranks) {
  const std::int64_t room = tokens_of(documents) / ranks;
  std::vector<DocumentRows> by_length(documents.begin(), documents.end());
  std::ranges::stable_sort(by_length, std::ranges::greater{}, &DocumentRows::count);
  const auto shorter = std::ranges::find_if(by_length, [&](const DocumentRows& one) { return one.count < room; });
  Order order{.documents{by_length.begin(), shorter}};
  const std::int64_t taken = tokens_of(order.documents), full = taken / room;
  std::vector<Share> shares(sim::count_of(ranks), {.room = room});
  for (std::int64_t rank = 0; rank < full; ++rank) sim::at(shares, rank) = {};
  if (full < ranks) sim::at(shares, full) = {.room = room - taken % room, .work = pairs_of(taken % room)};
  Dealt dealt = deal_whole(std::span(by_length).subspan(order.documents.size()), shares);
  order.room = -taken;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    order.room += room;
    fill(order, dealt, rank);
  }
  return std::move(order.documents);
}

}  // namespace executor
