#include "executor/training/flat_bucket.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "executor/model/gradient_place.h"

namespace executor {
namespace {

sim::Bucket layout() {
  sim::Bucket bucket;
  bucket.slots = {{.layer = sim::LayerIndex(1), .parameter = 0, .offset = 64, .elements = 6}};
  bucket.elements = 256;
  bucket.shard_elements = 128;
  return bucket;
}

BucketPlan zero(std::int32_t stage) {
  return {
      .shards_weights = stage == 3, .shards_gradients = stage >= 2, .shards_optimizer = stage >= 1, .data_rank = 1, .options = at::kDouble};
}

// Whole tensors: this rank owns the second one; of a block's matrix Muon keeps one moment.
TEST(FlatBucket, OwnersHaveWholeTensors) {
  sim::Bucket bucket;
  bucket.slots = {{.layer = sim::LayerIndex(1), .parameter = 0, .offset = 0, .elements = 60, .is_matrix_of_block = true},
                  {.layer = sim::LayerIndex(1), .parameter = 1, .offset = 64, .elements = 128, .is_matrix_of_block = true},
                  {.layer = sim::LayerIndex(1), .parameter = 2, .offset = 192, .elements = 10}};
  bucket.shards = 3;
  bucket.elements = 256;
  bucket.shard_elements = 192;
  bucket.first_of = {0, 64, 256, 256};
  BucketPlan plan{.shards_gradients = true, .shards_optimizer = true, .data_rank = 1, .options = at::TensorOptions().dtype(at::kFloat)};
  plan.matrices_keep_one = true;
  const FlatBucket second(bucket, plan);
  EXPECT_TRUE(second.is_dealt());
  EXPECT_EQ(second.owned_elements(), (std::vector<std::int64_t>{64, 192, 0}));
  EXPECT_EQ(second.stepped().begin, 64);
  EXPECT_EQ(second.stepped().count, 192);
  EXPECT_EQ(second.moment(0, {.begin = 64, .count = 128}).numel(), 128);
  EXPECT_FALSE(second.has_moment(1, bucket.slots[1]));
  EXPECT_TRUE(second.has_moment(1, bucket.slots[2]));
  EXPECT_EQ(second.moment(1, {.begin = 192, .count = 10}).storage_offset(), 0) << "without gaps";
  EXPECT_EQ(second.bytes().optimizer, sim::Bytes(4 * (192 + 64)));
  plan.data_rank = 2;
  const FlatBucket third(bucket, plan);
  EXPECT_EQ(third.stepped().count, 0);
  EXPECT_EQ(third.bytes().optimizer, sim::Bytes(0));
}

TEST(FlatBucket, LeavesSurviveFreeingAndTakingMemory) {
  FlatBucket bucket(layout(), zero(3));
  const Leaf leaf = bucket.leaf(layout().slots.front(), {2, 3});
  EXPECT_FALSE(bucket.has_whole_weights());
  bucket.take_weights();
  bucket.weights().fill_(3.0);
  EXPECT_EQ(leaf.value.sum().item<double>(), 18.0);
  const auto version = leaf.value._version();
  bucket.release_weights();
  EXPECT_FALSE(bucket.has_whole_weights());
  bucket.take_weights();
  std::fill_n(bucket.weights().data_ptr<double>(), 256, 5.0);  // as a collective writes: below autograd
  EXPECT_EQ(leaf.value.sum().item<double>(), 30.0);
  EXPECT_EQ(leaf.value._version(), version);
}

// Bytes, cut among data ranks wherever that falls; a slot beside packed ones keeps its numbers.
TEST(FlatBucket, PackedWeightsAreBytes) {
  sim::Bucket packed = layout();
  packed.frozen = true;
  packed.slots.front().packed = sim::Bytes(150);
  packed.slots.push_back({.layer = sim::LayerIndex(1), .parameter = 1, .offset = 128, .elements = 6, .packed_offset = sim::Bytes(192)});
  packed.packed = sim::Bytes(256);
  const at::Tensor bytes = at::ones({150}, at::kByte), numbers = at::ones({6}, at::kDouble);
  FlatBucket bucket(packed, zero(3));
  const Leaf matrix = bucket.leaf(bucket.layout().slots[0], {2, 3}), vector = bucket.leaf(bucket.layout().slots[1], {6});
  bucket.put_packed(bucket.layout().slots[0], bytes);  // of which the second data rank has what lies behind 128
  bucket.put_packed(bucket.layout().slots[1], numbers.view(at::kByte));
  EXPECT_EQ(bucket.weight_shard().numel(), 128);
  EXPECT_EQ(bucket.weight_shard().narrow(0, 0, 22).sum().item<std::int64_t>(), 22);
  bucket.take_weights();
  bucket.weights().zero_();
  bucket.weights().narrow(0, 128, 128).copy_(bucket.weight_shard());
  EXPECT_EQ(matrix.value.sum().item<std::int64_t>(), 22);
  EXPECT_EQ(vector.value.sum().item<double>(), 6.0);
  EXPECT_TRUE(bucket.is_packed() && !matrix.gradient.defined());
  EXPECT_EQ(bucket.bytes().weights, sim::Bytes(128 + 256));
}

TEST(FlatBucket, ReplicasKeepTheirWeights) {
  FlatBucket bucket(layout(), zero(0));
  bucket.release_weights();
  EXPECT_TRUE(bucket.has_whole_weights());
  EXPECT_EQ(bucket.stepped().count, 256);
  EXPECT_EQ(bucket.own_shard().begin, 128);
}

TEST(FlatBucket, ASlotHasOnePlaceForItsGradient) {
  FlatBucket bucket(layout(), zero(0));
  const Leaf first = bucket.leaf(layout().slots.front(), {6}), second = bucket.leaf(layout().slots.front(), {6});
  bucket.begin_step();
  bucket.start_gradients();
  add_gradient(first.gradient, at::ones({6}, at::kDouble));
  add_gradient(second.gradient, at::ones({6}, at::kDouble));
  EXPECT_EQ(bucket.gradients().sum().item<double>(), 12);
}

TEST(FlatBucket, GradientsStartAtZeroEachStep) {
  for (const std::int32_t stage : {0, 1, 2, 3}) {
    FlatBucket bucket(layout(), zero(stage));
    const Leaf leaf = bucket.leaf(layout().slots.front(), {6});
    for (int step = 0; step < 2; ++step) {
      bucket.begin_step();
      bucket.start_gradients();
      add_gradient(leaf.gradient, at::ones({6}, at::kDouble));
      bucket.start_gradients();  // a second microbatch adds
      add_gradient(leaf.gradient, at::ones({6}, at::kDouble));
      EXPECT_EQ(bucket.gradients().sum().item<double>(), 12.0) << stage << ": between slots is nothing";
      bucket.reduction_target().fill_(7.0);
      bucket.finish_reduction();
      EXPECT_EQ(bucket.gradients().storage().nbytes() > 0, stage < 2) << "ZeRO-2 and 3 free the whole gradients";
      EXPECT_EQ(bucket.final_gradients(bucket.own_shard()).min().item<double>(), 7.0);
      bucket.reduction_target().zero_();  // what ranks sum up between slots
    }
  }
}

// As of experts that no token has chosen.
TEST(FlatBucket, WhatNothingCameToIsZero) {
  for (const std::int32_t stage : {0, 2}) {
    FlatBucket bucket(layout(), zero(stage));
    const Leaf leaf = bucket.leaf(layout().slots.front(), {6});
    bucket.begin_step();
    bucket.start_gradients();
    EXPECT_EQ(bucket.gradients().abs().sum().item<double>(), 0.0) << stage;
    add_gradient(leaf.gradient, at::ones({6}, at::kDouble));
    EXPECT_EQ(bucket.gradients().sum().item<double>(), 6.0) << stage << ": it has begun";
  }
}

TEST(FlatBucket, ReduceEachSumsMicrobatchesApart) {
  BucketPlan plan = zero(2);
  plan.sums_microbatches = true;
  FlatBucket bucket(layout(), plan);
  bucket.begin_step();
  for (int microbatch = 0; microbatch < 3; ++microbatch) {
    bucket.start_gradients();
    EXPECT_EQ(bucket.gradients().abs().sum().item<double>(), 0.0) << "each microbatch starts afresh";
    bucket.gradients().fill_(1.0);
    bucket.reduction_target().fill_(2.0);
    bucket.finish_reduction();
    bucket.accumulate();
  }
  EXPECT_EQ(bucket.final_gradients(bucket.own_shard()).max().item<double>(), 6.0);
  bucket.begin_step();
  EXPECT_EQ(bucket.final_gradients(bucket.own_shard()).max().item<double>(), 0.0);
}

TEST(FlatBucket, OptimizerStateFollowsTheStrategy) {
  EXPECT_EQ(FlatBucket(layout(), zero(0)).moment(0, {.begin = 0, .count = 256}).numel(), 256);
  EXPECT_EQ(FlatBucket(layout(), zero(1)).moment(1, {.begin = 128, .count = 128}).numel(), 128);
}

TEST(FlatBucket, AnOffloadedOptimizerLiesOnTheHost) {
  BucketPlan plan = zero(2);
  plan.offloads_optimizer = true;
  plan.options = at::kBFloat16;
  plan.gradient_type = at::kBFloat16;
  FlatBucket bucket(layout(), plan);
  EXPECT_EQ(bucket.bytes().optimizer, sim::Bytes(0));
  EXPECT_EQ(bucket.bytes().host, sim::Bytes(128 * (12 + 2 + 2)));  // master and moments; gradients, weights
  bucket.reduction_target().fill_(3.0);
  bucket.copy_gradients_to_host();
  EXPECT_EQ(bucket.stepped_gradients().sum().item<double>(), 3.0 * 128);
  bucket.rounded_weights().fill_(5.0);
  bucket.copy_weights_to_device();
  EXPECT_EQ(bucket.weight_shard().sum().item<double>(), 5.0 * 128);
  bucket.master(bucket.own_shard()).fill_(7.0);
  bucket.round_master();
  bucket.copy_weights_to_device();  // a step that was skipped leaves what is there
  EXPECT_EQ(bucket.weight_shard().sum().item<double>(), 7.0 * 128);
}

// The shard comes into its place in the whole; gradients of each microbatch leave, and their sum stands on the host alone.
TEST(FlatBucket, WeightsOnTheHostComeAndGradientsLeave) {
  BucketPlan plan = zero(3);
  plan.shards_gradients = false;
  plan.sums_microbatches = plan.offloads_optimizer = plan.weights_on_host = true;
  plan.master_type = at::kDouble;
  FlatBucket bucket(layout(), plan);
  const sim::Bytes on_device = bucket.bytes().weights + bucket.bytes().gradients + bucket.bytes().optimizer;
  EXPECT_EQ(on_device, sim::Bytes(0));
  bucket.master(bucket.own_shard()).fill_(5.0);
  bucket.bring_weights();
  EXPECT_EQ(bucket.weights().narrow(0, 128, 128).sum().item<double>(), 5.0 * 128);
  bucket.release_weights();
  for (int step = 0; step < 2; ++step) {
    bucket.begin_step();
    for (int microbatch = 0; microbatch < 3; ++microbatch) {
      bucket.start_gradients();
      EXPECT_EQ(bucket.gradients().abs().sum().item<double>(), 0.0) << "each microbatch starts afresh";
      bucket.reduction_target().fill_(2.0);
      bucket.finish_reduction();
      if (microbatch > 0) {
        bucket.bring_gradients();
        bucket.accumulate();
      }
      bucket.copy_gradients_to_host();
      EXPECT_EQ(bucket.bytes().gradients, sim::Bytes(0));
    }
    EXPECT_EQ(bucket.stepped_gradients().min().item<double>(), 6.0);
    EXPECT_EQ(bucket.final_gradients(bucket.own_shard()).max().item<double>(), 6.0);
  }
}

TEST(FlatBucket, FrozenWeightsLieOnTheHostAsTheyArePacked) {
  sim::Bucket frozen = layout();
  frozen.frozen = true;
  frozen.packed = sim::Bytes(128);
  frozen.slots.front().packed = sim::Bytes(8);
  frozen.slots.front().packed_offset = sim::Bytes(64);
  BucketPlan plan = zero(3);
  plan.offloads_optimizer = plan.weights_on_host = true;
  FlatBucket bucket(frozen, plan);
  bucket.put_packed(frozen.slots.front(), at::ones({8}, at::kByte));
  EXPECT_EQ(bucket.bytes().weights, sim::Bytes(0));
  EXPECT_EQ(bucket.bytes().host, sim::Bytes(64));
  bucket.bring_weights();
  EXPECT_EQ(bucket.weights().narrow(0, 64, 64).sum().item<std::int64_t>(), 8);
}

TEST(FlatBucket, MomentsInEightBitsHaveAScaleABlock) {
  sim::Bucket bucket = layout();
  bucket.slots.front().offset = 768;
  bucket.elements = 1024;
  bucket.shard_elements = 512;
  BucketPlan plan = zero(1);
  plan.moment_type = at::kByte;
  const FlatBucket second(bucket, plan);
  EXPECT_EQ(second.bytes().optimizer, sim::Bytes(4 * 512 + 2 * (512 + 4 * 2))) << "a master of fp32 beside fp64";
  EXPECT_EQ(second.moment_scales(1, {.begin = 768, .count = 6}).storage_offset(), 1);
  EXPECT_EQ(second.moment_scales(1, {.begin = 512, .count = 512}).numel(), 2);
  EXPECT_FALSE(FlatBucket(bucket, zero(1)).moment_scales(0, {.begin = 768, .count = 6}).defined());
}

}  // namespace
}  // namespace executor
