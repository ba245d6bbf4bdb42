#include "sim/recipe/accounting.h"
#include "sim/recipe/megatron_network.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

TEST(MegatronNetworkFields, AreThoseOfTheWholeTable) {
  for (const Field& field : megatron_network_fields()) EXPECT_NE(field_of(kMegatron, std::string(field.key)), nullptr) << field.key;
  const ParallelPlan plan = testing::gpu_plan({.data = 8});
  EXPECT_EQ(megatron_network_fields().front().key, "num-layers");
  EXPECT_EQ(megatron_network_fields().front().write(plan), std::to_string(plan.model.layers));
}

// Without Transformer Engine, attention keeps its scores: nothing that is without effect.
TEST(MegatronNetworkFields, KernelsOfItsOwnAreTold) {
  const auto read = [](const std::string& more) {
    return testing::imported("pretrain_gpt.py --num-attention-heads 4 --seq-length 32 --micro-batch-size 1 --global-batch-size 4 " + more,
                             {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})});
  };
  EXPECT_THAT(testing::text_of(read("--transformer-impl local").lost), HasSubstr("kernels of Megatron-Core itself"));
  EXPECT_THAT(testing::text_of(read("--transformer-impl transformer_engine").lost), ::testing::Not(HasSubstr("transformer-impl")));
}

}  // namespace
}  // namespace sim
