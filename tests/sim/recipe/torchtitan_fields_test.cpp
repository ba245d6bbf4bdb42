#include <algorithm>

#include "sim/recipe/torchtitan.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

TEST(TorchtitanFields, NoNameStandsTwice) {
  std::vector<std::string> names;
  for (const Field& field : torchtitan_fields()) names.emplace_back(field.key);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

TEST(TorchtitanFields, AScheduleWithoutANameGoesAsCsv) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 2});
  EXPECT_FALSE(goes_as_csv(plan));
  plan.schedule = "zb-1p";
  EXPECT_TRUE(goes_as_csv(plan));
  EXPECT_EQ(named_schedule(plan), nullptr);
  plan.mesh.pipeline = 1;
  EXPECT_FALSE(goes_as_csv(plan));
}

TEST(TorchtitanFields, AnotherNormOfOlderFilesIsTold) {
  const std::string text =
      "[model]\nname = \"llama3\"\nflavor = \"8B\"\nnorm_type = \"layernorm\"\n[training]\nbatch_size = 1\nseq_len = 32\n"
      "data_parallel_shard_degree = -1\n";
  const RecipeContext context{.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  EXPECT_THAT(testing::text_of(testing::imported(text, context).lost), ::testing::HasSubstr("norm_type: is layernorm"));
}

// The section of a converter that nobody names says nothing.
TEST(TorchtitanFields, ASectionThatNobodyAsksFor) {
  const RecipeContext context{.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const auto read = [&](const std::string& model) {
    return testing::imported("[model]\nname = \"llama3\"\nflavor = \"8B\"\n" + model +
                                 "[training]\nlocal_batch_size = 1\nseq_len = 32\n[parallelism]\ndata_parallel_shard_degree = -1\n"
                                 "[float8]\nrecipe_name = \"tensorwise\"\n",
                             context);
  };
  EXPECT_FALSE(read("").plan.workload.precision.scales());
  EXPECT_THAT(testing::text_of(read("").notes), ::testing::HasSubstr("does not name float8"));
  EXPECT_TRUE(read("converters = [\"float8\"]\n").plan.workload.precision.scales());
}

TEST(TorchtitanFields, HowContextRanksAttend) {
  const RecipeContext context{.model = {}, .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})};
  const auto read = [&](const std::string& parallelism) {
    return testing::imported(
        "[model]\nname = \"llama3\"\nflavor = \"8B\"\n[training]\nlocal_batch_size = 1\nseq_len = 32\n[parallelism]\n" + parallelism +
            "data_parallel_shard_degree = -1\n",
        context);
  };
  const std::string ranks = "context_parallel_degree = 2\n";
  EXPECT_EQ(read(ranks).plan.context_algorithm, ContextAlgorithm::AllGather);
  EXPECT_EQ(read("context_parallel_rotate_method = \"alltoall\"\n" + ranks).plan.context_algorithm, ContextAlgorithm::Ring);
  const auto lost = [&](const std::string& parallelism) { return testing::text_of(read(parallelism).lost); };
  EXPECT_THAT(lost("context_parallel_load_balancer = \"none\"\n" + ranks), ::testing::HasSubstr("other shares of attention"));
  EXPECT_EQ(lost("context_parallel_load_balancer = \"headtail\"\n" + ranks), "");
  EXPECT_EQ(lost("context_parallel_load_balancer = \"none\"\n"), "");
}

}  // namespace
}  // namespace sim
