// Documents that each have a context degree of their own (context_by_document; Megatron-Core's hybrid context parallelism, FlexSP, Wang et al. 2025): a rank has
// room for 1 / C of its rows, and a document is shared by as few ranks as have room for it, a power of two. All data and context ranks take documents
// of one pool, those with most work first, each among the neighbours that have least so far.
//
//   C = 4, two data ranks     rank   0    1    2    3  |  4    5    6    7
//                                    [ long document  ]  [ half   ]  s    s, s
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sim {

struct PooledDocument {
  std::int64_t length = 0;
  double work = 0;  // of its attention, on all its ranks together
};

struct ContextPool {
  std::int32_t ranks = 1;    // of all data ranks
  std::int32_t context = 1;  // most that share a document
  std::int64_t room = 1;     // tokens of a rank
};

std::int32_t ranks_that_share(std::int64_t length, const ContextPool& pool);

// Of the rank that has most, over the mean.
double fullest_over_mean(std::vector<PooledDocument> documents, const ContextPool& pool);

// Of what a ring of all context ranks sends, where every document goes round its own ranks alone.
double share_that_travels(std::span<const PooledDocument> documents, const ContextPool& pool);

}  // namespace sim
