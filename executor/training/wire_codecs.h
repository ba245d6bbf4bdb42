// What a rank's buckets keep and lend where their gradients or weights cross links encoded (sim/plan/wire_codec.h), and the work around each exchange.
// Communicates nothing itself: the runner sends what it is given here.
#pragma once

#include <map>
#include <optional>

#include "executor/training/block_sum.h"
#include "executor/training/low_rank_sum.h"
#include "sim/task_graph/task.h"

namespace executor {

class WireCodecs {
 public:
  WireCodecs(const sim::ParallelPlan& plan, ParameterStore& parameters);  // parameters outlive this

  void encode(const sim::Task& task);  // tasks of Encode, Reencode, Decode, of gradients or of weights
  void reencode(const sim::Task& task);
  void decode(const sim::Task& task);

  // Of an all-reduce over the ranks that share a bucket: what is summed; undefined where that is the gradients themselves.
  at::Tensor summed(const sim::Task& task) const;
  struct Exchange {
    at::Tensor received, sent;
  };
  Exchange exchange(const sim::Task& task);  // of an all-to-all
  void end_exchange(const sim::Task& task);  // what was sent is given up
  struct Gather {
    at::Tensor all, own;  // undefined where weights travel as they are
  };
  Gather gather(const sim::Task& task) const;

 private:
  void keep(sim::BucketIndex bucket, const LowRankSum& sum);
  bool is_of_gradients(const sim::Task& task) const { return task.key.phase == sim::Phase::Gradients; }

  ParameterStore& parameters_;
  std::optional<BlockFormat> weights_;
  std::map<sim::BucketIndex, LowRankSum> low_rank_;
  std::map<sim::BucketIndex, BlockSum> blocks_;
  std::map<sim::BucketIndex, at::Tensor> gathered_;  // codes of all shards, from Encode to Decode
};

}  // namespace executor
