#include "executor/communication/nccl_lane.h"

#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

TEST(NcclLane, TellsNcclAddressAndTypeOfATensor) {
  const at::Tensor from = at::ones({6}, at::kBFloat16), to = at::ones({3}, at::kBFloat16);
  const NcclBuffer pair = nccl_buffer({from, to}, 3), alone = nccl_buffer(from);
  EXPECT_EQ(pair.from, from.data_ptr());
  EXPECT_EQ(pair.to, to.data_ptr());
  EXPECT_EQ(pair.elements, 3U);
  EXPECT_EQ(alone.from, alone.to);
  EXPECT_EQ(alone.elements, 6U);
  EXPECT_EQ(alone.type, at::kBFloat16);
}

TEST(NcclLane, OnlyHostTensorsAreCopiedBack) {
  const at::Tensor host = at::ones({2});
  EXPECT_TRUE(NcclLane::result_of(host, host).host.defined());
  EXPECT_FALSE(NcclLane::result_of(at::ones({2}, at::TensorOptions().device(at::kMeta)), host).host.defined());
}

}  // namespace
}  // namespace executor
