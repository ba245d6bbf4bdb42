#include "planner/constraints.h"

#include <gtest/gtest.h>

#include "tests/planner/problems.h"

namespace planner {
namespace {

TEST(Constraints, NameEveryBrokenRuleOfATensorDegree) {
  SearchRequest request = gpt3_request({.devices = 1024, .devices_per_node = 8});
  request.model.kv_heads = 8;
  const std::vector<Reason> reasons = why_not_tensor(request, 64);
  ASSERT_EQ(reasons.size(), 3u);
  EXPECT_EQ(reasons[0].code, "node_size");
  EXPECT_EQ(to_sentence(reasons[1]), "96 attention heads are not divisible by 64");
  EXPECT_EQ(to_sentence(reasons[2]), "8 key/value heads are not divisible by 64");
}

TEST(Constraints, AFixedTensorDegreeMayShareKeyHeads) {
  SearchRequest request = gpt3_request({.devices = 1024, .devices_per_node = 8});
  request.model.kv_heads = 4;
  EXPECT_FALSE(why_not_tensor(request, 8).empty());
  request.fixed = {{"tensor", "8"}};
  EXPECT_TRUE(why_not_tensor(request, 8).empty());
  request.model.kv_heads = 3;
  EXPECT_FALSE(why_not_tensor(request, 8).empty());
}

TEST(Constraints, AFixedTensorDegreeMayLeaveItsNode) {
  SearchRequest request = gpt3_request({.devices = 1024, .devices_per_node = 8});
  EXPECT_FALSE(why_not_tensor(request, 16).empty());
  request.fixed = {{"tensor", "16"}};
  EXPECT_TRUE(why_not_tensor(request, 16).empty());
}

TEST(Constraints, PipelineAndData) {
  const SearchRequest request = gpt3_request({.devices = 1024, .devices_per_node = 8});
  EXPECT_TRUE(why_not_pipeline(request, 64).empty());
  EXPECT_EQ(to_sentence(why_not_pipeline(request, 128)), "pipeline 128 x chunks 1 = 128 virtual stages, but the model has 96 blocks");
  EXPECT_EQ(to_sentence(why_not_data(request, 1024)), "global batch 1536 is not divisible by data degree 1024");
  EXPECT_EQ(to_sentence(why_not_data(request, 3)), "1024 devices are not divisible by 3");
}

TEST(Constraints, FixesAreAllowedValues) {
  const SearchRequest request = gpt3_request({.devices = 1024, .devices_per_node = 8});
  EXPECT_EQ(nearest_degree(request, why_not_tensor, {.axis = "tensor", .degree = 64}), "tensor=8");
  EXPECT_EQ(nearest_degree(request, why_not_pipeline, {.axis = "pipeline", .degree = 3}), "pipeline=4");
  EXPECT_EQ(nearest_mesh(request, {.data = 4, .pipeline = 4, .tensor = 4}), "data=64 tensor=4 pipeline=4");
}

TEST(Constraints, AMemoryLimitHasAUnit) {
  std::vector<sim::Violation> violations;
  EXPECT_EQ(memory_limit_of({.where = "--memory-limit", .value = "80 GiB"}, violations), sim::Bytes(std::int64_t{80} << 30));
  EXPECT_FALSE(memory_limit_of({.where = "--memory-limit", .value = ""}, violations));
  EXPECT_TRUE(violations.empty());
  memory_limit_of({.where = "--memory-limit", .value = "80"}, violations);
  memory_limit_of({.where = "memory limit", .value = "0 GiB"}, violations);
  ASSERT_EQ(violations.size(), 2u);
  EXPECT_EQ(sim::located(violations[0]), "--memory-limit: '80' is no amount of memory with a unit");
  EXPECT_EQ(violations[1].where, "memory limit");
}

TEST(Constraints, DivisorsAscend) { EXPECT_EQ(divisors(12), (std::vector<std::int32_t>{1, 2, 3, 4, 6, 12})); }

}  // namespace
}  // namespace planner
