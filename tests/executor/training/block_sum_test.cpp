#include "executor/training/block_sum.h"

#include <ATen/ops/empty.h>

#include "sim/units/at.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

sim::ParallelPlan plan_of_blocks(sim::DeviceMesh mesh, sim::Codec codec) {
  sim::ParallelPlan plan = tiny_plan(mesh);
  plan.workload.global_batch = mesh.data;
  plan.zero_stage = 2;
  plan.workload.precision = plan.workload.precision.with_gradient_codec({codec, 0});
  return plan;
}

// All ranks of a mesh in one process: what they send is carried over by hand.
class RanksByHand {
 public:
  explicit RanksByHand(const sim::ParallelPlan& plan) : plan_(plan), model_(sim::make_model_graph(plan)) {
    for (std::int32_t rank = 0; rank < plan.mesh.data; ++rank) {
      stores_.push_back(std::make_unique<ParameterStore>(model_, plan_, sim::Rank(rank), c10::kCPU));
      FlatBucket& bucket = stores_.back()->bucket(sim::BucketIndex(0));
      bucket.start_gradients();
      for (std::int64_t at = 0; at < bucket.gradients().numel(); ++at)
        bucket.gradients().data_ptr<double>()[at] = std::cos(0.3 * static_cast<double>(at * (rank + 1)));
      sums_.emplace_back(bucket, plan_);
    }
  }
  FlatBucket& bucket(std::size_t rank) { return stores_[rank]->bucket(sim::BucketIndex(0)); }

  at::Tensor exact() {
    at::Tensor all = at::zeros_like(bucket(0).gradients());
    for (std::size_t rank = 0; rank < sums_.size(); ++rank) all += bucket(rank).gradients();
    return all;
  }
  void exchange(sim::MeshAxis axis) {
    std::vector<at::Tensor> received;
    for (BlockSum& sum : sums_) received.push_back(sum.make_received());
    for (std::int32_t rank = 0; rank < plan_.mesh.data; ++rank) {
      const std::vector<sim::Rank> group = plan_.mesh.group(sim::Rank(rank), axis);
      const std::int64_t chunk = sums_[sim::count_of(rank)].sent().numel() / static_cast<std::int64_t>(group.size());
      const auto place = std::ranges::find(group, sim::Rank(rank)) - group.begin();
      for (std::size_t to = 0; to < group.size(); ++to)
        received[group[to].position()]
            .narrow(0, place * chunk, chunk)
            .copy_(sums_[sim::count_of(rank)].sent().narrow(0, static_cast<std::int64_t>(to) * chunk, chunk));
    }
  }
  std::vector<BlockSum>& sums() { return sums_; }

 private:
  sim::ParallelPlan plan_;
  sim::ModelGraph model_;
  std::vector<std::unique_ptr<ParameterStore>> stores_;
  std::vector<BlockSum> sums_;
};

void expect_sums(RanksByHand& ranks, const at::Tensor& exact, double band) {
  for (std::size_t rank = 0; rank < ranks.sums().size(); ++rank) {
    const BucketRange own = ranks.bucket(rank).own_shard();
    const at::Tensor right = exact.narrow(0, own.begin, own.count), off = ranks.bucket(rank).reduction_target() - right;
    EXPECT_LT(off.norm().item<double>(), band * right.norm().item<double>()) << rank;
    EXPECT_GT(off.norm().item<double>(), 0);
  }
}

TEST(BlockSum, EachRankGetsTheSumOfItsShard) {
  for (const auto& [codec, band] : {std::pair(sim::Codec::Int8, 0.02), {sim::Codec::Fp8, 0.06}, {sim::Codec::Int4, 0.2}}) {
    RanksByHand ranks(plan_of_blocks({.data = 4}, codec));
    const at::Tensor exact = ranks.exact();
    for (BlockSum& sum : ranks.sums()) sum.encode();
    ranks.exchange(sim::MeshAxis::Data);
    for (BlockSum& sum : ranks.sums()) sum.decode();
    expect_sums(ranks, exact, band);
  }
}

TEST(BlockSum, NeighboursFirst) {
  RanksByHand ranks(plan_of_blocks({.data = 4, .reshard = 2}, sim::Codec::Int4));
  const at::Tensor exact = ranks.exact();
  for (BlockSum& sum : ranks.sums()) sum.encode();
  ranks.exchange(sim::MeshAxis::Reshard);
  for (BlockSum& sum : ranks.sums()) sum.reencode();
  ranks.exchange(sim::MeshAxis::Distant);
  for (BlockSum& sum : ranks.sums()) sum.decode();
  expect_sums(ranks, exact, 0.3);
}

}  // namespace
}  // namespace executor
