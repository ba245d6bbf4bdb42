#include "sim/model/block_parts.h"

#include <gmock/gmock.h>

#include "configs.h"

namespace sim {
namespace {

TEST(BlockParts, OperatorsSayWhatTensorRanksDoWithThem) {
  EXPECT_EQ(same_width(OperatorKind::Norm, "norm", 8).split, TensorSplit::None);
  EXPECT_EQ(split_width(OperatorKind::Rotary, "rotary", 8).split, TensorSplit::Rows);
  EXPECT_TRUE(gathered({}).gathered && !gathered({}).routes);
  EXPECT_TRUE(routes({}).gathered && routes({}).routes);
  EXPECT_TRUE(unscaled({}).unscaled);
  EXPECT_TRUE(within({}, Module::LayerNorm).modules.has(Module::Op) && within({}, Module::LayerNorm).modules.has(Module::LayerNorm));
}

TEST(BlockParts, NormsStandWhereTheNetworkHasThem) {
  ModelConfig config = small_llama();
  EXPECT_TRUE(has_norm_before(config) && has_own_norm(config) && !has_norm_behind(config));
  config.parallel_blocks = config.shared_norm = true;
  EXPECT_TRUE(has_norm_before(config) && !has_own_norm(config));
  config.norm_place = NormPlace::Behind;
  EXPECT_TRUE(!has_norm_before(config) && has_norm_behind(config));
}

// The sum reads what the norm in front has read.
TEST(BlockParts, ASegmentEndsWithTheStream) {
  const ModelConfig config = small_llama();
  SegmentBuilder builder(Operation::Mlp, {.name = Operation::MlpNorm, .is_side = true});
  builder.then(over_tensor(Meeting::Enter, config.hidden), {.name = Operation::Mlp});
  add_tail(builder, config, Operation::MlpResidual);
  const std::optional<std::size_t> norm = add_norm(builder, config, true);
  builder.add(kCore, {OperatorKind::Linear, "product", config.hidden, config.hidden, TensorSplit::Columns});
  add_residual(builder, config, kCore + 1, norm);
  const SegmentGraph segment = std::move(builder).finish();
  ASSERT_EQ(segment.operators.size(), 3u);
  EXPECT_EQ(segment.operators.back().kind, OperatorKind::Residual);
  EXPECT_EQ(boost::out_degree(std::size_t{0}, segment.edges), 2u) << "norm -> product, norm -> sum";
  EXPECT_TRUE(segment.leaves_tensor());
  EXPECT_FALSE(segment.parts.back().feeds_backward);
}

}  // namespace
}  // namespace sim
