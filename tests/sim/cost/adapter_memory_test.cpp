#include "sim/cost/adapter_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/cost/memory_scene.h"

namespace sim {
namespace {

using testing::memory_of;

// 32 tokens, hidden 64, ffn 256, rank 8, fp32. Each pair beside a product keeps what the first hands to the second.
TEST(AdapterMemory, APairKeepsItsNarrowVector) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.adapters = Adapters{.rank = 8}.on(AdapterTarget::Up).on(AdapterTarget::Down);
  const auto narrow = [&] {
    Bytes all{};
    for (const Kept& tensor : memory_of(plan, Operation::Mlp).tensors)
      if (tensor.tensor == "what adapters hand on") all += tensor.bytes;
    return all;
  };
  EXPECT_EQ(narrow(), Bytes(4 * 32 * 2 * 8));
  plan.model.adapters->rank = 16;
  EXPECT_EQ(narrow(), Bytes(4 * 32 * 2 * 16));
}

// 32 tokens, hidden 64: what the norm puts out is there in fp32 until products have cast it, and its gradient likewise; what is kept is as before.
TEST(AdapterMemory, NormsInFp32StandBesideWhatIsCastOfThem) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.precision = Precision::Bf16;
  plan.model.adapters = Adapters{.rank = 8}.on(AdapterTarget::Up).on(AdapterTarget::Down);
  const SegmentMemory narrow = memory_of(plan, Operation::Mlp);
  plan.workload.precision = plan.workload.precision.with(WideKind::Norms, Precision::Fp32);
  const SegmentMemory wide = memory_of(plan, Operation::Mlp);
  EXPECT_EQ(narrow.forward_temporary, Bytes(0));
  EXPECT_EQ(wide.forward_temporary, Bytes(4 * 32 * 64));
  EXPECT_EQ(wide.backward_temporary, std::max(narrow.backward_temporary, Bytes(4 * 32 * 64)));
  EXPECT_EQ(wide.kept, narrow.kept);
}

// A packed weight is unpacked for each use, one at a time.
TEST(AdapterMemory, PackedWeightsAreUnpackedForEachUse) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.adapters = Adapters{.rank = 8}.on(AdapterTarget::Up).on(AdapterTarget::Down);
  EXPECT_EQ(memory_of(plan, Operation::Mlp).forward_temporary, Bytes(0));
  plan.model.adapters->base = BaseFormat::Nf4;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).forward_temporary, Bytes(4 * 64 * 256));
  plan.model.adapters->base = BaseFormat::Fp8;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).forward_temporary, Bytes(4 * 64 * 256));
  plan.workload.precision = plan.workload.precision.with(ScaleRecipe::Delayed, false);
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).forward_temporary, Bytes(0)) << "products read the 8 bits themselves";
}

// What operators made of whole numbers waits for the backward of its product: 64 x 256 twice, in fp32, and on the way five bytes of the largest one's.
TEST(AdapterMemory, OperatorsLeaveWhatTheyUnpacked) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.adapters = Adapters{.rank = 8, .base = BaseFormat::Int4}.on(AdapterTarget::Up);
  const Bytes before = memory_of(plan, Operation::Mlp).kept;
  plan.cluster.software.unpacks_by_operator = true;
  EXPECT_EQ(memory_of(plan, Operation::Mlp).kept - before, Bytes(2 * 4 * 64 * 256));
  EXPECT_EQ(memory_of(plan, Operation::Mlp).forward_temporary, Bytes(5 * 64 * 256));
}

}  // namespace
}  // namespace sim
