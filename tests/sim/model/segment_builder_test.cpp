#include "sim/model/segment_builder.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using ::testing::ElementsAre;

Operator norm(const char* name) { return {OperatorKind::Norm, name, 8, 8}; }

TEST(SegmentBuilder, OperatorsFollowOneAnother) {
  SegmentBuilder segment(Operation::Mlp, {.name = Operation::MlpNorm, .is_side = true});
  segment.then({SplitAxis::Tensor, Meeting::Enter, 8}, {.name = Operation::Mlp});
  const std::size_t first = segment.add(0, norm("a"));
  segment.add(1, norm("b"));
  const std::size_t last = segment.add(1, norm("c"));
  segment.connect({first, last});
  const SegmentGraph graph = std::move(segment).finish();
  std::vector<std::string> names;
  for (const Operator& op : graph.operators) names.push_back(op.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(boost::num_edges(graph.edges), 3u);
  EXPECT_EQ(graph.operators[0].part, 0);
  EXPECT_EQ(graph.operators[2].part, 1);
  EXPECT_EQ(graph.parts[1].name, Operation::Mlp);
}

}  // namespace
}  // namespace sim
