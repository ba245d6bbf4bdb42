#include "executor/communication/nccl_library.h"

#include <gtest/gtest.h>

namespace executor {
namespace {

TEST(NcclLibrary, IsThereExactlyInABuildWithCuda) {
#if MESHWRIGHT_CUDA
  ASSERT_NE(nccl_library(), nullptr);
  NcclId id;
  EXPECT_EQ(nccl_library()->make_id(id), NcclStatus::Success) << "an id needs no GPU";
  EXPECT_FALSE(nccl_library()->describe(NcclStatus{5}, nullptr).empty());
#else
  EXPECT_EQ(nccl_library(), nullptr);
#endif
}

}  // namespace
}  // namespace executor
