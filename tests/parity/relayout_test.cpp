// A checkpoint written under one layout, loaded under another: the same bits of weights and moments, also after saving again and going back;
// and the training goes on as it would have.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/parity/compositions.h"
#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

struct Move {
  sim::DeviceMesh from, to;
  std::int32_t zero_from = 0, zero_to = 0;
  bool experts = false, to_host = false;
  bool owners_from = false, owners_to = false;
};

sim::ParallelPlan plan_at(const sim::ModelConfig& model, sim::DeviceMesh mesh, std::int32_t zero) {
  sim::ParallelPlan plan = with_zero(with_precision(tiny_plan(model, mesh), sim::Precision::Fp64), zero);
  plan.sequence_parallel = mesh.cuts_experts_apart();
  return plan;
}

void expect_same_state(const TrainingResult& a, const TrainingResult& b, const std::string& what) {
  EXPECT_EQ(bitwise_difference(a.weights, b.weights, what), "");
  EXPECT_EQ(bitwise_difference(a.moments, b.moments, what + ", moments"), "");
}

class Relayout : public testing::TestWithParam<Move> {};

TEST_P(Relayout, KeepsEveryBitAndGoesOn) {
  const auto& [from, to, zero_from, zero_to, experts, to_host, owners_from, owners_to] = GetParam();
  if (from.ranks() != num_ranks()) GTEST_SKIP() << "needs " << from.ranks() << " ranks";
  const ScratchOfJob scratch;
  const sim::ModelConfig model = experts ? tiny_mixtral() : tiny_gpt2();
  sim::ParallelPlan here = plan_at(model, from, zero_from), there = plan_at(model, to, zero_to);
  there.offload_optimizer = to_host;
  if (owners_from) here = by_owner(here, zero_from, sim::WeightSync::Broadcast);
  if (owners_to) there = by_owner(there, zero_to);
  if (from.cuts_experts_apart() || to.cuts_experts_apart()) here.model.experts->balance_loss = there.model.experts->balance_loss = 0;
  if (from.context > 1 || to.context > 1) here.model.attention_dropout = there.model.attention_dropout = 0;
  const TrainingResult first = train({.plan = here, .steps = 2, .save_to = scratch.folder("a")});
  const TrainingResult moved = train({.plan = there, .steps = 0, .load_from = scratch.folder("a"), .save_to = scratch.folder("b")});
  expect_same_state(moved, first, "moved");
  expect_same_state(train({.plan = here, .steps = 0, .load_from = scratch.folder("b")}), first, "and back");
  const TrainingResult stayed = train({.plan = here, .steps = 2, .load_from = scratch.folder("a")});
  EXPECT_EQ(difference(train({.plan = there, .steps = 2, .load_from = scratch.folder("a")}), stayed, {1e-10}), "");
}

INSTANTIATE_TEST_SUITE_P(
    Moves, Relayout,
    testing::Values(Move{{.data = 2}, {.tensor = 2}, 3, 0}, Move{{.tensor = 2}, {.pipeline = 2}, 0, 0},
                    Move{{.pipeline = 2}, {.data = 2}, 0, 1}, Move{{.data = 4}, {.data = 2, .tensor = 2}, 3, 2},
                    Move{{.pipeline = 2, .tensor = 2}, {.data = 2, .pipeline = 2}, 0, 3},
                    Move{{.data = 2, .pipeline = 2, .tensor = 2}, {.data = 4, .tensor = 2}, 3, 1}, Move{{.data = 2}, {.context = 2}, 3, 1},
                    Move{{.context = 2}, {.tensor = 2}, 3, 0}, Move{{.data = 2, .context = 2}, {.pipeline = 2, .context = 2}, 2, 3},
                    Move{{.tensor = 2, .context = 2}, {.data = 4}, 1, 3}, Move{{.data = 2}, {.data = 2}, 2, 2, false, true},
                    Move{{.data = 2}, {.tensor = 2}, 3, 0, false, true}, Move{{.data = 8}, {.data = 2, .pipeline = 2, .tensor = 2}, 2, 3},
                    Move{{.data = 2, .expert = 2}, {.tensor = 2}, 3, 0, true}, Move{{.tensor = 2}, {.data = 2, .expert = 2}, 0, 1, true},
                    Move{{.data = 2, .expert = 2}, {.pipeline = 2}, 0, 0, true},
                    Move{{.data = 4, .expert = 2}, {.data = 2, .tensor = 2, .expert = 2}, 3, 1, true},
                    Move{{.data = 2, .tensor = 2, .expert = 2}, {.data = 4, .expert = 4}, 2, 3, true},
                    Move{{.tensor = 2, .expert_tensor = 1}, {.data = 2, .expert = 2}, 3, 1, true},
                    Move{{.tensor = 2}, {.tensor = 2, .expert = 2, .expert_tensor = 1}, 0, 0, true},
                    Move{{.data = 4, .expert = 2}, {.data = 2, .tensor = 2, .expert = 2, .expert_tensor = 1}, 2, 3, true},
                    Move{{.data = 2, .tensor = 2, .expert = 4, .expert_tensor = 1}, {.data = 2, .tensor = 2, .expert = 2}, 0, 2, true},
                    Move{{.data = 2}, {.data = 2}, 1, 2, false, false, true, false},
                    Move{{.data = 2}, {.tensor = 2}, 2, 0, false, false, true, false},
                    Move{{.data = 4}, {.data = 2, .pipeline = 2}, 3, 2, false, false, false, true},
                    Move{{.data = 4}, {.data = 4}, 2, 1, false, false, true, true}));

}  // namespace
}  // namespace parity
