#include <gmock/gmock.h>

#include "sim/model/family.h"
#include "sim/model/model_graph.h"

namespace sim {
namespace {

TEST(GptFamilies, NormsPositionsAndBlocks) {
  const auto read = [](const std::string& name) { return load_model_config("profiles/models/" + name + ".json"); };
  EXPECT_EQ(rotary_width(read("pythia-1b")), 64) << "a quarter of the head";
  EXPECT_TRUE(read("pythia-1b").parallel_blocks);
  EXPECT_EQ(read("falcon-7b").kv_heads, 1);
  EXPECT_TRUE(read("falcon-7b").shared_norm);
  EXPECT_FALSE(read("falcon-40b").shared_norm);
  EXPECT_EQ(read("falcon-rw-1b").position, Position::Alibi);
  EXPECT_FALSE(read("falcon-rw-1b").parallel_blocks);
  EXPECT_EQ(read("opt-1.3b").embedding_width, 0) << "as wide as the blocks";
  EXPECT_EQ(read("opt-350m").embedding_width, 512);
  EXPECT_EQ(read("opt-350m").norm_place, NormPlace::AfterSum);
  EXPECT_EQ(read("starcoder2-7b").window, 4096);
  EXPECT_TRUE(read("bloom-7b1").embedding_norm);
}

// One norm for both branches of Falcon-7B's block; two for those of Falcon-40B's.
TEST(GptFamilies, ASharedNormStandsOnce) {
  const auto norms = [](const std::string& name) {
    int count = 0;
    const ModelGraph model = make_model_graph(load_model_config("profiles/models/" + name + ".json"), {128});
    for (const SegmentGraph& segment : model.layer(LayerIndex(1)).segments)
      for (const Operator& op : segment.operators) count += op.kind == OperatorKind::Norm ? 1 : 0;
    return count;
  };
  EXPECT_EQ(norms("falcon-7b"), 1);
  EXPECT_EQ(norms("falcon-40b"), 2);
}

}  // namespace
}  // namespace sim
