// The tasks of attention in three parts, on the stages of two context ranks side by side.
#include <ATen/ops/cat.h>

#include "executor/training/token_share.h"
#include "tests/executor/training/context_ranks.h"

namespace executor {
namespace {

struct ContextStage {
  ContextStage(const sim::ModelGraph& model, const sim::ParallelPlan& plan, sim::Rank rank, const TokenFile& file)
      : parameters(model, plan, rank, c10::kCPU), stage(model, plan, rank, parameters) {
    parameters.fill_initial_values();
    parameters.begin_step();
    stage.begin_step(load_batch(file, plan, rank, 0));
  }
  ParameterStore parameters;
  PipelineStage stage;
};

class ContextStages : public testing::TestWithParam<sim::ContextAlgorithm> {};

TEST_P(ContextStages, GiveTheLossesAndGradientsOfOneRank) {
  sim::ParallelPlan plan = context_plan(2, GetParam());
  sim::ParallelPlan alone = plan;
  alone.mesh.context = 1;
  Training one(alone);
  const TokenFile file(one.folder.file("tokens.bin"), plan.workload.sequence);
  for (const sim::Recompute recompute : {sim::Recompute::None, sim::Recompute::Full}) {
    plan.recompute = recompute;
    const sim::ModelGraph model = sim::make_model_graph(plan);
    ContextStage first(model, plan, sim::Rank(0), file), second(model, plan, sim::Rank(1), file), whole(model, alone, sim::Rank(0), file);
    for (const sim::Task& task : tasks_of(plan)) {
      if (task.key.phase == sim::Phase::Gradients || task.key.phase == sim::Phase::Step) continue;
      if (task.key.group == sim::MeshAxis::Context) {
        exchange_between({first.stage.exchange(task.key), second.stage.exchange(task.key)}, task.key.operation);
        continue;
      }
      first.stage.perform(task.key);
      second.stage.perform(task.key);
    }
    for (const sim::Task& task : tasks_of(alone))
      if (task.key.phase != sim::Phase::Gradients && task.key.phase != sim::Phase::Step) whole.stage.perform(task.key);
    EXPECT_NEAR((at::cat(first.stage.losses()).sum() + at::cat(second.stage.losses()).sum()).item<double>(),
                at::cat(whole.stage.losses()).sum().item<double>(), 1e-11);
    const auto gradients = [](ContextStage& of) { return of.parameters.buckets().front().gradients(); };
    const at::Tensor expected = gradients(whole);
    EXPECT_LT((gradients(first) + gradients(second) - expected).norm().item<double>(), 1e-13 * expected.norm().item<double>());
  }
}

INSTANTIATE_TEST_SUITE_P(All, ContextStages,
                         testing::Values(sim::ContextAlgorithm::Ring, sim::ContextAlgorithm::AllGather, sim::ContextAlgorithm::AllToAll),
                         [](const auto& each) { return std::string(sim::kContextAlgorithmNames[static_cast<std::size_t>(each.param)]); });

}  // namespace
}  // namespace executor
