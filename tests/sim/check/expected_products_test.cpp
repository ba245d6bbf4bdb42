// What ranks ask each other for inside computations of 8 bit, over every kind of block: the rules accept it, and find what is wrong.
#include "tests/sim/check/graph_parts.h"
#include "tests/sim/model/pairs.h"

namespace sim {
namespace {

using testing::GraphParts;
using ::testing::IsEmpty;
using testing::says;
using testing::tiny_plan;

ParallelPlan with_scales(DeviceMesh mesh, ScaleRecipe recipe) {
  ParallelPlan plan = tiny_plan(mesh);
  plan.workload.precision = PrecisionPolicy(Precision::Fp32).with(recipe, false);
  return plan;
}

ParallelPlan of_latent(ParallelPlan plan) {
  plan.model = testing::tiny_llama();
  plan.model.attention = {.kind = AttentionKind::Latent, .q_lora = 24, .kv_lora = 16, .qk_nope = 16, .qk_rope = 8, .v_dim = 16};
  plan.model.kv_heads = plan.model.heads;
  return plan;
}

ParallelPlan of_experts(ParallelPlan plan) {
  plan.model.experts = ExpertForm{.experts = 8, .topk = 2, .expert_ffn = 32, .shared_ffn = 48, .shared_gate = true};
  return plan;
}

ParallelPlan of_pair(ParallelPlan plan) {
  plan.model = small_pair("mbart", {.layers = 1, .decoder_layers = 1});
  plan.cut = even_cut(plan.model.layers, {.stages = plan.mesh.pipeline, .microbatches = 1, .chunks = 1});
  return plan;
}

ParallelPlan of_slices(ParallelPlan plan) {
  plan.slices = 2;
  return plan;
}

ParallelPlan of_narrow_table(ParallelPlan plan) {
  plan.model.embedding_width = 32;
  return plan;
}

ParallelPlan of_adapters(ParallelPlan plan) {
  std::vector<Violation> wrong;
  plan.model.adapters = parse_adapters("rank 2 on qkv,o,up,down", wrong);
  return plan;
}

std::vector<ParallelPlan> plans(ScaleRecipe recipe) {
  const auto on = [&](DeviceMesh mesh) { return with_scales(mesh, recipe); };
  return {on({.context = 2}),
          on({.tensor = 2, .context = 2}),
          of_latent(on({.tensor = 2})),
          of_latent(on({.tensor = 2, .context = 2})),
          of_experts(on({.context = 2})),
          of_experts(on({.data = 2, .tensor = 2, .expert = 2})),
          of_experts(on({.data = 2, .tensor = 2, .expert = 4, .expert_tensor = 1})),
          of_experts(on({.tensor = 4, .expert = 2, .expert_tensor = 2})),
          of_slices(on({.tensor = 2})),
          of_pair(on({.tensor = 2})),
          of_narrow_table(on({.tensor = 2, .context = 2})),
          of_adapters(on({.tensor = 2, .context = 2}))};
}

TEST(ExpectedProducts, SoundGraphs) {
  int seen = 0;
  for (const ScaleRecipe recipe :
       {ScaleRecipe::Delayed, ScaleRecipe::Tensorwise, ScaleRecipe::Rowwise, ScaleRecipe::Blockwise, ScaleRecipe::Mx}) {
    int number = 0;
    for (ParallelPlan& plan : plans(recipe)) {
      SCOPED_TRACE(number++);
      for (const bool overlaps : {false, true})
        for (const Recompute recompute : {Recompute::None, Recompute::Full}) {
          plan.cluster.hardware.overlaps_communication = overlaps;
          plan.recompute = recompute;
          if (!violations(plan).empty()) continue;
          EXPECT_THAT(GraphParts(plan).findings(), IsEmpty());
          ++seen;
        }
    }
  }
  EXPECT_GT(seen, 150);
}

TEST(ExpectedProducts, AMaximumOfTheWrongRanks) {
  GraphParts parts(with_scales({.tensor = 2, .context = 2}, ScaleRecipe::Tensorwise));
  Task& task = parts.task("m0.l2.forward.all_reduce.context");
  task.key.group = MeshAxis::Data;
  EXPECT_THAT(parts.findings(), says("m0.l2.forward.all_reduce.data.0 of rank 0 is not in the plan"));
  EXPECT_THAT(parts.findings(), says("m0.l2.forward.all_reduce.context.0 of rank 0 is missing"));
}

TEST(ExpectedProducts, AnAgreementThatIsMissing) {
  for (const std::string missing : {"m0.l3.backward.all_reduce.tensor.3", "m0.l3.forward.all_reduce.expert_data.1"}) {
    GraphParts parts(missing.find("expert") == std::string::npos ? of_latent(with_scales({.tensor = 2}, ScaleRecipe::Tensorwise))
                                                                 : of_experts(with_scales({.context = 2}, ScaleRecipe::Rowwise)));
    parts.drop(parts.find(missing));
    EXPECT_THAT(parts.findings(), says(missing + " of rank 0 is missing"));
  }
}

TEST(ExpectedProducts, MaximaOfOtherRows) {
  GraphParts parts(of_pair(with_scales({.tensor = 2}, ScaleRecipe::Rowwise)));
  parts.task("m0.l1.forward.all_reduce.tensor").payload += Bytes(4);
  EXPECT_THAT(parts.findings(), says("B instead of"));
}

// The last product of a backward asks on its way: until its answer there is no gradient.
TEST(ExpectedProducts, AReductionThatDoesNotWaitForWhatWasAsked) {
  ParallelPlan plan = with_scales({.context = 2}, ScaleRecipe::Tensorwise);
  plan.cluster.hardware.overlaps_communication = true;
  plan.bucket_size = Bytes(1);
  GraphParts parts(plan);
  EXPECT_THAT(parts.findings(), IsEmpty());
  const std::size_t reduction = parts.find("l4.gradients.all_reduce.data");
  parts.cut_edges_to(reduction);
  parts.edges.emplace_back(parts.find("m7.l4.backward.attention_input"), reduction);
  EXPECT_THAT(parts.findings(), says("does not wait for"));
}

}  // namespace
}  // namespace sim
