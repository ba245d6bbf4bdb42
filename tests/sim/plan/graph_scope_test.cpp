#include "sim/plan/graph_scope.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/broken.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::broken;
using ::testing::IsEmpty;

TEST(GraphScope, TextAndScopeAreOneAnother) {
  for (const char* const text : {"", "attn", "mlp", "attn,moe_router", "attn,mlp,moe_router"})
    EXPECT_EQ(to_text(parse_graph_scope(text).value()), text);
  EXPECT_EQ(to_text(parse_graph_scope("moe_preprocess,mamba").value()), "attn,moe_router");
  EXPECT_FALSE(parse_graph_scope("attn,heads"));
}

TEST(GraphScope, HoldsSegmentsByTheirName) {
  const GraphScope all, attention = GraphScope().with(GraphPart::Attention), router = GraphScope().with(GraphPart::Router);
  for (const Operation segment : {Operation::Attention, Operation::LinearAttention, Operation::Mlp, Operation::Experts, Operation::Head})
    EXPECT_TRUE(all.holds(segment));
  EXPECT_TRUE(attention.holds(Operation::LinearAttention));
  EXPECT_FALSE(attention.holds(Operation::Mlp));
  EXPECT_FALSE(attention.holds(Operation::Head));
  EXPECT_TRUE(router.holds(Operation::Experts));
  EXPECT_FALSE(router.holds(Operation::Attention));
}

TEST(GraphScope, IsOfGraphsOfLayers) {
  ParallelPlan plan = testing::tiny_plan();
  plan.cluster.hardware.kind = DeviceKind::Gpu;
  plan.graph_scope = GraphScope().with(GraphPart::Mlp);
  EXPECT_THAT(violations(plan), broken("/graph_scope", "there are none"));
  plan.cuda_graphs = CudaGraphs::PerLayer;
  EXPECT_THAT(violations(plan), IsEmpty());
}

}  // namespace
}  // namespace sim
