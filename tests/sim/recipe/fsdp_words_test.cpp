#include "sim/recipe/fsdp_words.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

// Both programs that pass it on.
TEST(FsdpWords, GathersInTheBackward) {
  const RecipeContext context{.model = testing::tiny_llama(),
                              .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8}),
                              .sequence = 32,
                              .global_batch = 8,
                              .microbatch = 1};
  const std::string trainer =
      "torchrun --nproc_per_node 8 a.py --per_device_train_batch_size 1 --bf16 True --fsdp full_shard --fsdp_backward_prefetch ";
  const std::string accelerate =
      "distributed_type: FSDP\nnum_processes: 8\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD\n  fsdp_backward_prefetch: ";
  for (const std::string& before : {trainer, accelerate}) {
    EXPECT_THAT(testing::text_of(testing::imported(before + "NO_PREFETCH\n", context).lost), HasSubstr("gathers nothing ahead"));
    for (const std::string post : {"BACKWARD_POST\n", "backward_post\n"})
      EXPECT_THAT(testing::text_of(testing::imported(before + post, context).lost), HasSubstr("less memory"));
    EXPECT_THAT(testing::text_of(testing::imported(before + "OURS\n", context).unknown), HasSubstr("is OURS, which no release has"));
    EXPECT_THAT(testing::text_of(testing::imported(before + "BACKWARD_PRE\n", context).lost), Not(HasSubstr("gathers")));
  }
}

}  // namespace
}  // namespace sim
