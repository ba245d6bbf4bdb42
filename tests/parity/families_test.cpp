// Each family of tests/reference/families on two ranks against one process, in fp64: relative L2 of every gradient and weight <= 1e-10.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

constexpr std::int64_t kFamilySteps = 2;
constexpr Tolerance kFamilyTolerance{1e-10};

std::vector<std::string> families() {
  std::vector<std::string> names;
  std::error_code elsewhere;  // programs that were packed run without these files
  for (const auto& file : std::filesystem::directory_iterator("tests/reference/families", elsewhere)) names.push_back(file.path().stem());
  std::ranges::sort(names);
  return names;
}

sim::ParallelPlan family_plan(const std::string& family, sim::DeviceMesh mesh) {
  const sim::ModelConfig model = sim::load_model_config("tests/reference/families/" + family + ".json");
  return with_precision(tiny_plan(model, mesh), sim::Precision::Fp64);
}

using Reasons = std::set<std::string>;

Reasons why_refused(const sim::ParallelPlan& plan) {
  Reasons all;
  for (const auto& some : {sim::why_not_runnable(plan), sim::violations(plan)})
    for (const sim::Violation& one : some) all.insert(one.problem);
  return all;
}

struct Layout {
  const char* name;
  sim::ParallelPlan (*plan)(const std::string& family);
};
constexpr Layout kLayouts[] = {
    {"TensorRanks", [](const std::string& family) { return family_plan(family, {.tensor = 2}); }},
    {"SequenceParallelAndRecomputation",
     [](const std::string& family) {
       sim::ParallelPlan plan = family_plan(family, {.tensor = 2});
       plan.sequence_parallel = true;
       plan.recompute = sim::Recompute::Full;
       return plan;
     }},
    {"PipelineThatSplitsBackwards",
     [](const std::string& family) { return with_schedule(family_plan(family, {.pipeline = 2}), "zb-1p", 1); }},
    {"ShardedDataRanks",
     [](const std::string& family) {
       sim::ParallelPlan plan = with_zero(family_plan(family, {.data = 2}), 3);
       const auto& encoder = plan.model.encoder;
       const bool shares_table = encoder && encoder->relative_buckets > 0 && !encoder->distances_of_each;  // which stays whole
       if (shares_table) plan.persistence_threshold = encoder->relative_buckets * plan.model.heads;
       return plan;
     }},
    {"ContextRanks", [](const std::string& family) { return family_plan(family, {.context = 2}); }},
    {"ContextRanksThatDealHeads",
     [](const std::string& family) {
       sim::ParallelPlan plan = family_plan(family, {.context = 2});
       plan.context_algorithm = sim::ContextAlgorithm::AllToAll;
       return plan;
     }},
    {"ExpertRanks", [](const std::string& family) { return family_plan(family, {.data = 2, .expert = 2}); }},
};

// What is refused, for each of its reasons. Everything else agrees with one process.
struct Refused {
  std::string layouts, reason, families;
};
const std::vector<Refused>& refused_families() {
  static const std::vector<Refused> all = {
      {"ContextRanks ContextRanksThatDealHeads", "context ranks share the tokens of one stream, and attention to a source reads two",
       "bart blenderbot blenderbot_small longt5 m2m_100 marian mbart mt5 pegasus plbart t5 umt5"},
      {"ContextRanksThatDealHeads", "all_to_all deals 4 heads and 1 key/value heads to tensor 1 x context 2 ranks",
       "falcon_7b gpt_bigcode"},
      {"SequenceParallelAndRecomputation", "tensor ranks have all rows of the source and the target",
       "bart blenderbot blenderbot_small longt5 m2m_100 marian mbart mt5 pegasus plbart t5 umt5"},
      {"PipelineThatSplitsBackwards", "blocks of a stack share one table of biases by distance, which has no copies", "longt5 mt5"},
  };
  return all;
}

Reasons reasons_of(const Layout& layout, const std::string& family) {
  const auto is_named = [](const std::string& names, const std::string& name) {
    return (" " + names + " ").find(" " + name + " ") != std::string::npos;
  };
  Reasons all;
  for (const Refused& row : refused_families())
    if (is_named(row.layouts, layout.name) && is_named(row.families, family)) all.insert(row.reason);
  return all;
}

struct FamilyCase {
  std::string family;
  Layout layout;
};
std::vector<FamilyCase> cases() {
  std::vector<FamilyCase> all;
  for (const Layout& layout : kLayouts)
    for (const std::string& family : families())
      if (layout.name != std::string_view("ExpertRanks") || family_plan(family, {}).model.experts) all.push_back({family, layout});
  return all;
}

class Families : public testing::TestWithParam<FamilyCase> {};

TEST_P(Families, AgreeWithOneProcess) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const auto& [family, layout] = GetParam();
  const sim::ParallelPlan plan = layout.plan(family);
  const Reasons reasons = reasons_of(layout, family);
  ASSERT_EQ(why_refused(plan), reasons);
  if (!reasons.empty()) return;
  const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = kFamilySteps, .ranks = Ranks::Alone});
  EXPECT_EQ(difference(train({.plan = plan, .steps = kFamilySteps}), alone, kFamilyTolerance), "");
}

// A planted order: norms in front of the turn. The scales begin as ones, which any turn leaves; the second step tells.
TEST(FamiliesAlone, NormsStandBehindTheTurn) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const auto trained = [](sim::QkNorm norm) {
    sim::ParallelPlan plan = on_one_rank(family_plan("hunyuan_v1_dense", {.tensor = 2}));
    plan.model.qk_norm = norm;
    return train({.plan = plan, .steps = kFamilySteps, .ranks = Ranks::Alone});
  };
  EXPECT_NE(difference(trained(sim::QkNorm::Heads), trained(sim::QkNorm::Turned), kFamilyTolerance), "");
}

// Planted pieces: a mask that hides the neighbours, types of tokens forgotten, no transform in front of the head.
TEST(FamiliesAlone, MaskedTokensReadAllOfTheirNetwork) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  sim::ParallelPlan right = on_one_rank(family_plan("bert", {.tensor = 2}));
  right.model.initializer_range = 0.2;
  const auto loss = [](const sim::ParallelPlan& plan) { return train({.plan = plan, .steps = 1, .ranks = Ranks::Alone}).losses.front(); };
  sim::ParallelPlan alone = right, untyped = right, untransformed = right;
  alone.model.window = 1;
  untyped.model.token_types = 0;
  untransformed.model.head_transform = false;
  for (const sim::ParallelPlan& wrong : {alone, untyped, untransformed}) EXPECT_GT(std::abs(loss(wrong) / loss(right) - 1), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(All, Families, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.layout.name + ("_" + each.param.family); });

}  // namespace
}  // namespace parity
