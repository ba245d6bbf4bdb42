#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

TEST(ImportRecipe, KnowsEachByWhatStandsInIt) {
  ParallelPlan plan = testing::gpu_plan({.data = 8});
  for (const Program* program : all_programs()) {
    plan.zero_stage = program == &kNanotron ? 1 : 3;
    plan.model = program == &kFairseq ? testing::tiny_gpt2() : testing::tiny_llama();
    if (program == &kFairseq) plan.workload.precision = Precision::Fp16;
    EXPECT_TRUE(program->marks.empty() || program_of(testing::main_text(*program, plan)) == program) << program->name;
  }
  EXPECT_EQ(program_of("{\"model_type\": \"gpt2\"}"), nullptr);
}

TEST(ImportRecipe, OtherFilesAreRefusedByName) {
  EXPECT_THAT(testing::refusal_of("some words", testing::context_of(testing::gpu_plan({.data = 8}))),
              HasSubstr("is no configuration of Megatron-LM, Megatron-Bridge, NeMo 2, DeepSpeed, Accelerate, torchtitan, nanotron"));
  EXPECT_THAT(testing::refusal_of("distributed_type: " + std::string(2 << 20, 'x'), testing::context_of(testing::gpu_plan({.data = 8}))),
              HasSubstr("no configuration is longer"));
}

TEST(ImportRecipe, AMissingOrderIsTold) {
  EXPECT_THAT(testing::refusal_of(
                  "pipeline_parallel_degree = 2\npipeline_parallel_schedule = \"PipelineScheduleSingle\"\npipeline_parallel_schedule_csv = "
                  "\"/dev/none.csv\"\nseq_len = 32\nlocal_batch_size = 8\n",
                  {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{2})}),
              HasSubstr("none.csv"));
}

}  // namespace
}  // namespace sim
