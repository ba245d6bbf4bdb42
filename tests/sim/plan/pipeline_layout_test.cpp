#include "sim/plan/pipeline_layout.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

using Blocks = std::vector<std::int64_t>;

TEST(PipelineLayout, CountsTheBlocksOfEachPart) {
  EXPECT_EQ(parse_pipeline_layout("Et*2|t*2L").blocks, (Blocks{2, 2}));
  EXPECT_EQ(parse_pipeline_layout("E,tt|(t)*2,L").blocks, (Blocks{2, 2}));
  EXPECT_EQ(parse_pipeline_layout("E|t|L").blocks, (Blocks{0, 1, 0})) << "ends may stand alone";
}

TEST(PipelineLayout, RepetitionsStandInRepetitions) {
  const PipelineLayout layout = parse_pipeline_layout("Et*4|(t*4|)*14tmL");  // DeepSeek-V3 in Megatron-Bridge's recipes
  Blocks expected(15, 4);
  expected.push_back(1);
  EXPECT_EQ(layout.blocks, expected);
  EXPECT_EQ(layout.further, 1);
  EXPECT_FALSE(layout.is_further_apart());
  EXPECT_EQ(parse_pipeline_layout(R"(Et*3\\|\\(tt\\|\\)*6mL)").blocks, (Blocks{3, 2, 2, 2, 2, 2, 2, 0})) << "escaped for a shell";
}

TEST(PipelineLayout, FurtherPredictionsMayStandOnAnotherPartThanTheHead) {
  const PipelineLayout usual = parse_pipeline_layout("Et*3|(tt|)*29m|L");  // DeepSeek-V3 in Megatron-LM's documents
  EXPECT_EQ(usual.blocks.size(), 32u);
  EXPECT_TRUE(usual.is_further_apart());
  EXPECT_EQ(usual.last_further, 30u);
  EXPECT_FALSE(usual.is_further_split());
  EXPECT_TRUE(parse_pipeline_layout("Ett|ttm|mL").is_further_split());
}

TEST(PipelineLayout, AnUnknownLetterIsNamed) {
  EXPECT_EQ(parse_pipeline_layout("Et*1xL").unknown, 'x');
  EXPECT_EQ(parse_pipeline_layout("Et(tL").unknown, std::nullopt);
  EXPECT_EQ(parse_pipeline_layout("E((t)*2|)*2L").unknown, '(') << "parentheses do not nest";
  EXPECT_LT(parse_pipeline_layout("E(t*9999|)*9999L").blocks.size(), 50'000u) << "no text is too large to read";
}

}  // namespace
}  // namespace sim
