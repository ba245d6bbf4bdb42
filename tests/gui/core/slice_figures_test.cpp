#include "gui/core/slice_figures.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(SliceFigures, AProductHasFlopsAndATransferBytes) {
  const SharedPlan plan = test::exampleSimulation();
  const std::vector<sim::Span>& spans = plan->result.timeline.spans;
  int products = 0, sums = 0;
  for (std::uint32_t at = 0; at < spans.size(); ++at) {
    const SliceFigures figures = figuresOf(*plan, at);
    EXPECT_LE(figures.alone, spans[at].end - spans[at].start + sim::SimTime(1)) << sim::to_text(spans[at].key);
    if (spans[at].key.operation == sim::Operation::Mlp && spans[at].key.phase == sim::Phase::Forward) {
      ++products;
      ASSERT_TRUE(figures.flops);
      EXPECT_GT(figures.share_of_peak, 0);
      EXPECT_LT(figures.share_of_peak, 1);
      EXPECT_EQ(figures.payload, sim::Bytes(0));
    }
    if (spans[at].key.group == sim::MeshAxis::Data) {
      ++sums;
      EXPECT_EQ(figures.ranks, 2);
      EXPECT_EQ(figures.on_node, 2);
      EXPECT_GT(figures.payload, sim::Bytes(0));
      EXPECT_FALSE(figures.flops);
      EXPECT_EQ(figures.algorithm, spans[at].key.operation == sim::Operation::AllReduce ? "ring" : figures.algorithm);
      EXPECT_FALSE(figures.algorithm.empty()) << sim::to_text(spans[at].key);
    }
  }
  EXPECT_GT(products, 0);
  EXPECT_GT(sums, 0);
}

}  // namespace
}  // namespace gui
