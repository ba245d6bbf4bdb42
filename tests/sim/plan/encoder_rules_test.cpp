#include <gmock/gmock.h>

#include "tests/sim/model/pairs.h"
#include "tests/sim/plan/broken.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::broken;
using ::testing::Contains;
using ::testing::Field;
using ::testing::IsEmpty;

ParallelPlan pair_plan(DeviceMesh mesh = {}) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.model = small_pair("bart", {.layers = 2, .decoder_layers = 1});
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

TEST(EncoderRules, SourceAndTargetHaveTokens) {
  ParallelPlan plan = pair_plan();
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.source_tokens = 31;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.source_tokens = 32;
  EXPECT_THAT(violations(plan), broken("/workload/source_tokens", "leaves 0 of 32 tokens to the decoder, and 32 to the encoder"));
  plan = testing::tiny_plan();
  plan.model.source_tokens = 8;
  EXPECT_THAT(violations(plan), broken("/workload/source_tokens", "is of a network with an encoder and a decoder"));
}

// Each has positions of its own.
TEST(EncoderRules, PositionsAreThoseOfTheLongerOne) {
  ParallelPlan plan = pair_plan();
  plan.model.max_positions = 20;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.source_tokens = 21;
  EXPECT_THAT(violations(plan), broken("/workload/sequence", "sequence 21 exceeds the model's 20 positions"));
}

TEST(EncoderRules, RanksThatShareASampleAreRefused) {
  EXPECT_THAT(violations(pair_plan({.context = 2})), broken("/mesh/context", "attention to a source reads two"));
  ParallelPlan plan = pair_plan({.tensor = 2});
  plan.sequence_parallel = true;
  EXPECT_THAT(violations(plan), IsEmpty());
  plan.model.source_tokens = 13;
  EXPECT_THAT(violations(plan), broken("/sequence_parallel", "13 tokens of the source and 19 of the target"));
}

TEST(EncoderRules, ASourceGoesStraightToWholeStages) {
  ParallelPlan plan = pair_plan({.pipeline = 2});
  plan.direct_source = true;
  EXPECT_THAT(violations(plan), IsEmpty());
  EXPECT_THAT(why_not_runnable(plan), Contains(Field(&Violation::where, "/direct_source")));
  plan.schedule = "interleaved", plan.chunks = 2;
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  EXPECT_THAT(violations(plan), broken("/direct_source", "a stage of several chunks would be sent it for each"));
  plan = testing::tiny_plan();
  plan.direct_source = true;
  EXPECT_THAT(violations(plan), broken("/direct_source", "is of a network with an encoder and a decoder"));
}

TEST(EncoderRules, AllOfTheSoundIsRead) {
  ParallelPlan plan = pair_plan();
  plan.model.encoder->frame_width = 8;
  plan.model.encoder->frames = 12;
  plan.model.max_positions = 20;
  EXPECT_THAT(violations(plan), IsEmpty()) << "12 places and 20 tokens";
  plan.model.source_tokens = 11;
  EXPECT_THAT(violations(plan), broken("/workload/source_tokens", "is 11, and this encoder reads all of its 12 places of sound"));
  plan.model.source_tokens = 0;
  plan.model.max_positions = 19;
  EXPECT_THAT(violations(plan), broken("/workload/sequence", "sequence 20 exceeds the model's 19 positions"));
}

}  // namespace
}  // namespace sim
