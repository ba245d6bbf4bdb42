#include "sim/validation/row_layout.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

ModelConfig model() {
  ModelConfig model;
  model.layers = 32;
  model.hidden = 4096;
  return model;
}
RowLayout layout() { return {.gpus = 8, .data = 8, .micro_batch = 2, .global_batch = 64, .microbatches = 4, .balance = {}}; }

TEST(RowLayout, UsualMicroBatches) {
  RowLayout piped = layout();
  piped.pipeline = 4;
  EXPECT_EQ(usual_micro_batch(layout(), model(), 2048), 4) << "the activations of 8 are wider than the rule allows";
  EXPECT_EQ(usual_micro_batch(piped, model(), 2048), 1);
  EXPECT_EQ(usual_micro_batch(piped, model(), 512), 4);
}

TEST(RowLayout, UsualChunks) {
  RowLayout piped = layout();
  piped.pipeline = 4;
  EXPECT_EQ(usual_chunks(piped, model()), 4);
  piped.pipeline = 32;
  EXPECT_EQ(usual_chunks(piped, model()), 1);
}

TEST(RowLayout, EndsWeighAsABlock) {
  const auto counts = [](std::int64_t blocks, std::int64_t parts) {
    RowLayout layout;
    layout.pipeline = parts;
    ModelConfig model;
    model.layers = blocks;
    return counts_with_ends(layout, model);
  };
  EXPECT_THAT(counts(10, 4), testing::ElementsAre(2, 3, 3, 2));
  EXPECT_THAT(counts(32, 4), testing::ElementsAre(7, 9, 9, 7));
  EXPECT_THAT(counts(10, 1), testing::ElementsAre(10));
}

// As LiBai's _init_placement_group deals them out; the four of the last stage stand with the head.
TEST(RowLayout, TheLastStageIsLight) {
  const auto counts = [](std::int64_t blocks, std::int64_t stages) {
    RowLayout layout;
    layout.pipeline = stages;
    ModelConfig model;
    model.layers = blocks;
    return counts_with_a_light_end(layout, model);
  };
  EXPECT_THAT(counts(24, 4), testing::ElementsAre(6, 7, 7, 4));
  EXPECT_THAT(counts(48, 8), testing::ElementsAre(6, 6, 7, 7, 7, 7, 7, 1));
  EXPECT_THAT(counts(25, 4), testing::ElementsAre(6, 6, 6, 7)) << "what does not divide evenly goes to the later ones";
  EXPECT_THAT(counts(24, 2), testing::ElementsAre(12, 12)) << "two stages stay even";
  EXPECT_THAT(counts(4, 4), testing::ElementsAre(1, 1, 1, 1));
}

TEST(RowLayout, Contradictions) {
  EXPECT_THAT(contradictions(layout(), model()), testing::IsEmpty());
  RowLayout wrong = layout();
  wrong.tensor = 2;
  wrong.micro_batch = 1000;
  EXPECT_THAT(contradictions(wrong, model()), testing::SizeIs(3));
}

}  // namespace
}  // namespace sim
