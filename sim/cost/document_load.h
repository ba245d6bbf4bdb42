// Attention's work where rows hold documents: pairs of a query and a key inside a document, unequal between rows. Who meets waits for the slowest.
//
//   every rank by itself     each data rank's microbatches are drawn by the seed
//   folded                   one device stands for n = inner * outer data ranks; its microbatches are expected order statistics:
//                              `inner` ranks meet in every layer (gathers of stage 3, tokens of experts):   sum over microbatches of maxima
//                              `outer` groups of those meet once a step (sums of gradients):                maximum over groups of sums
//
// Context by document: all ranks take documents of one pool in each microbatch, and wait for the one that has most (context_balance.h).
//
// E[max of n] = sum over i of x_(i) ((i / N)^n - ((i - 1) / N)^n) of N drawn values in order (David and Nagaraja, Order Statistics, 2003). What the
// fold leaves out: that a rank which is ahead in one microbatch has time in hand for the next, and that the slowest pipeline need not be the one with
// most work. Against the mean of unfolded draws a step is within kFoldError (tests/sim/engine/documents_test.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/cost/context_balance.h"
#include "sim/cost/document_rows.h"
#include "sim/plan/parallel_plan.h"

namespace sim {

inline constexpr double kFoldError = 0.08;  // of the step's time

// Of one row in one microbatch. length: documents of equal length that do as much work a pair of tokens; 0: the row is one document.
struct AttentionWork {
  std::int64_t length = 0;
  double pairs = 0;
  bool operator==(const AttentionWork&) const = default;
};

double expected_largest(const std::vector<double>& ascending, std::int64_t ranks);

class DocumentLoads {
 public:
  explicit DocumentLoads(const ParallelPlan& plan);  // which has documents; must outlive this

  struct DataRanks {
    std::int32_t first = 0, size = 1;
    bool alone = false;  // drawn, in a graph of all ranks
  };
  AttentionWork work(const Operator& op, DataRanks ranks, MicrobatchIndex microbatch);
  AttentionWork least(const Operator& op);  // of any microbatch: what a bound may count on
  double share_that_travels() const;        // context_by_document: of a ring of all context ranks; else 1
  // Of a step's attention: what those wait for who meet, over the mean rank's.
  double slowest(const Operator& op);

 private:
  struct Rows {  // of one kind of attention
    std::int64_t length = 0;
    double mean = 0;                                     // pairs of a row
    std::vector<double> work;                            // by row, in units of the mean
    std::vector<double> microbatches;                    // of the same, ascending
    double pooled = 1;                                   // of the same, in the mean, where all ranks have one pool of documents
    std::vector<double> pools;                           // of the same, by microbatch
    std::map<std::int32_t, std::vector<double>> folded;  // by size of the class: of each microbatch
  };
  Rows& rows_of(const Operator& op);
  Rows drawn(const Operator& op) const;
  double microbatch(const Rows& rows, std::uint64_t number) const;
  std::size_t drawn_row(std::uint64_t number) const;
  std::vector<PooledDocument> pool_of(std::int64_t microbatch, const Operator& op) const;
  std::vector<double> pools(const Rows& rows, const Operator& op) const;
  const std::vector<double>& folded(Rows& rows, std::int32_t size);
  std::vector<double> fold(const Rows& rows, std::int32_t size) const;

  const ParallelPlan& plan_;
  std::shared_ptr<const DocumentRows> documents_;
  std::map<std::pair<std::int64_t, bool>, Rows> rows_;  // by window
};

// What a person wants to know of them.
struct DocumentFigures {
  double documents = 0;  // of a row; parts of cut ones counted
  std::int64_t attended = 0;
  double real_share = 1, loss_share = 1, cut_share = 0;  // as DocumentRows says them
  double slowest = 1;                                    // attention's work that a step waits for, over the mean rank's
  std::int32_t meeting = 1;                              // data ranks that wait for each other more than once a step
};
DocumentFigures document_figures(const ParallelPlan& plan);  // which has documents

// Whether the program's attention leaves out what lies between documents: a fused kernel. One that makes a matrix of scores computes all of it.
bool skips_other_documents(const ParallelPlan& plan);

// Data ranks that wait for each other in every layer, or after every microbatch.
std::int32_t ranks_that_meet(const ParallelPlan& plan);

}  // namespace sim
