#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

TEST(Nemo, AStrategyAndItsDataBecomeAPlan) {
  const ImportedPlan plan = testing::imported(
      "import nemo_run as run\nfrom nemo import lightning as nl\nfrom nemo.collections import llm\n"
      "strategy = run.Config(nl.MegatronStrategy, tensor_model_parallel_size=2, pipeline_model_parallel_size=2, sequence_parallel=True,\n"
      "                      ddp=run.Config(DistributedDataParallelConfig, overlap_grad_reduce=True, use_distributed_optimizer=True))\n"
      "data = run.Config(llm.MockDataModule, seq_length=32, global_batch_size=16, micro_batch_size=2)\n"
      "trainer = run.Config(nl.Trainer, devices=8, num_nodes=1, max_steps=10, plugins=bf16_mixed(), strategy=strategy)\n",
      {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  EXPECT_EQ(plan.program, &kNemo);
  EXPECT_EQ(plan.plan.mesh, (DeviceMesh{.data = 2, .pipeline = 2, .tensor = 2}));
  EXPECT_TRUE(plan.plan.sequence_parallel);
  EXPECT_EQ(plan.plan.microbatch_size, 2);
  EXPECT_EQ(plan.plan.zero_stage, 1);
  EXPECT_EQ(to_text(plan.plan.workload.precision), "bf16 gradients=fp32");
  EXPECT_THAT(plan.unknown, ::testing::IsEmpty()) << testing::text_of(plan.unknown);
}

TEST(Nemo, PositionsOfLlama31AreRefused) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.model = load_model_config("profiles/models/llama-3.1-8b.json");
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  EXPECT_THAT(testing::refused_by(kNemo, plan), HasSubstr("/model/rope_scaling"));
  EXPECT_THAT(testing::main_text(kMegatronBridge, plan), HasSubstr("rope_scaling=True"));
}

// A number that another name of the recipe holds is nobody's to guess: the cluster has it.
TEST(Nemo, ProcessesThatAnotherNameHolds) {
  const std::string text =
      "import nemo_run as run\nfrom nemo.collections import llm\nrecipe = llm.some.pretrain_recipe(num_nodes=1, num_gpus_per_node=8)\n"
      "recipe.trainer.strategy.tensor_model_parallel_size=2\nrecipe.data.global_batch_size=8\nrecipe.data.micro_batch_size=1\n"
      "recipe.data.seq_length=32\nexecutor = start(nodes=recipe.trainer.num_nodes, devices=recipe.trainer.devices)\n";
  const ImportedPlan read =
      testing::imported(text, {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})});
  EXPECT_EQ(read.program, &kNemo);
  EXPECT_EQ(read.plan.mesh, (DeviceMesh{.data = 2, .tensor = 2}));
  // What all of them begin with.
  EXPECT_EQ(to_text(read.plan.workload.precision), "bf16 gradients=fp32");
  EXPECT_EQ(read.plan.zero_stage, 1);
  EXPECT_TRUE(read.plan.overlap_weight_gather);
  const std::string own = "recipe.trainer.plugins = fp16_mixed()\nrecipe.optim.config.use_distributed_optimizer = False\n";
  const ParallelPlan changed =
      testing::imported(text + own, {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})}).plan;
  EXPECT_EQ(changed.workload.precision.compute(), Precision::Fp16);
  EXPECT_EQ(changed.zero_stage, 0);
}

// Sizes that stand as defaults of a function's parameters.
TEST(Nemo, NamesThatTheFileSets) {
  const ImportedPlan read = testing::imported(
      "import nemo_run as run\nfrom nemo.collections import llm\ndef data(gbs: int = 16, mbs: int = 2, seq_length: int = 32):\n"
      "    return run.Config(llm.MockDataModule, seq_length=seq_length, global_batch_size=gbs, micro_batch_size=mbs)\n"
      "recipe.trainer.strategy.tensor_model_parallel_size = 2\n",
      {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4})});
  EXPECT_EQ(read.plan.workload.global_batch, 16);
  EXPECT_EQ(read.plan.microbatch_size, 2);
  EXPECT_EQ(read.plan.workload.sequence, 32);
}

TEST(Nemo, ParametersOfItsRecipeFunctions) {
  const ImportedPlan read = testing::imported(
      "from nemo.collections.llm.recipes import some\ntrainer = some.trainer(\n    tensor_parallelism=2, pipeline_parallelism=2,\n"
      "    virtual_pipeline_parallelism=None, sequence_parallelism=True, num_nodes=1, num_gpus_per_node=8)\n"
      "recipe.trainer.devices = 8\nrecipe.data.micro_batch_size = 1\nrecipe.data.global_batch_size = 8\nrecipe.data.seq_length = 32\n",
      {.model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{8})});
  EXPECT_EQ(read.plan.mesh, (DeviceMesh{.data = 2, .pipeline = 2, .tensor = 2}));
  EXPECT_TRUE(read.plan.sequence_parallel);
}

TEST(Nemo, AMicrobatchBesideTheFile) {
  const std::string text = "from nemo.collections import llm\nrecipe.trainer.strategy.tensor_model_parallel_size = 2\n";
  RecipeContext context{
      .model = testing::tiny_llama(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{4}), .sequence = 32, .global_batch = 16};
  EXPECT_THAT(testing::refusal_of(text, context), ::testing::HasSubstr("give --microbatch"));
  context.microbatch = 4;
  EXPECT_EQ(testing::imported(text, context).plan.microbatch_size, 4);
}

}  // namespace
}  // namespace sim
