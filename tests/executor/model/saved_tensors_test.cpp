#include "executor/model/saved_tensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "executor/model/storage_memory.h"

namespace executor {
namespace {

at::Tensor on_host(std::int64_t bytes) { return at::empty({bytes}, at::TensorOptions().dtype(at::kByte)); }

TEST(SavedTensors, ComeBackInTheirPlaceAndKeepTheirNumbers) {
  const at::Tensor whole = at::randn({3, 4}), part = whole.narrow(0, 1, 1).t(), before = whole.clone();
  const auto version = whole._version();
  SavedTensors saved;
  for (const at::Tensor& each : {whole, part}) saved.add(each);
  saved.leave(on_host);
  EXPECT_EQ(part.storage().nbytes(), 0U);
  saved.come_back();
  EXPECT_TRUE(at::equal(whole, before));
  EXPECT_EQ(whole._version(), version) << "autograd would take it for another tensor";
  whole.zero_();
  saved.come_back();  // nothing is left there
  EXPECT_TRUE(at::equal(whole, at::zeros_like(before)));
}

// Nobody needs it any more; or it is made again (made_again.h).
TEST(SavedTensors, WhatIsGoneDoesNotLeave) {
  const at::Tensor forgotten = at::randn({5});
  std::int64_t left = 0;
  SavedTensors saved;
  saved.add(at::randn({7}));
  saved.add(forgotten);
  resize_storage(*forgotten.storage().unsafeGetStorageImpl(), 0);
  saved.leave([&](std::int64_t bytes) { return left += bytes, on_host(bytes); });
  EXPECT_EQ(left, 0);
  saved.come_back();
  EXPECT_EQ(forgotten.storage().nbytes(), 0U);
}

TEST(SavedTensors, OnlyLargeOnesOfTheirModulesAreOffered) {
  const at::Tensor large = at::randn({8}), small = at::randn({7}), others = at::randn({8});
  SavedTensors saved;
  Saving::offer(sim::Module::CoreAttention, {others});
  {
    const Saving saving({.modules = sim::Module::CoreAttention, .least = 8}, saved);
    Saving::offer(sim::Module::CoreAttention, {large, small, at::Tensor()});
    Saving::offer(sim::Module::QkvProduct, {others});
  }
  Saving::offer(sim::Module::CoreAttention, {others});
  saved.leave(on_host);
  EXPECT_EQ(large.storage().nbytes(), 0U);
  for (const at::Tensor& stays : {small, others}) EXPECT_GT(stays.storage().nbytes(), 0U);
}

}  // namespace
}  // namespace executor
