#include "sim/cost/prediction_interval.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

double width(const HardwareProfile& hardware, const SoftwareStack& software = {}) {
  return prediction_interval(Cluster{hardware, 8, software}).half_width;
}

TEST(PredictionInterval, NarrowsWithWhatIsKnown) {
  HardwareProfile hardware = testing::small_gpu();
  const double sheet = width(hardware);
  hardware.measured.resize(1);
  const double measured = width(hardware);
  hardware.corrections.resize(1);
  EXPECT_LT(measured, sheet);
  EXPECT_LT(width(hardware), measured);
}

TEST(PredictionInterval, UnknownSoftwareAndUnknownPartsWidenIt) {
  const HardwareProfile known = load_hardware_profile("a100-80gb-sxm"), unknown = load_hardware_profile("b200-180gb-sxm");
  EXPECT_LT(width(known, load_software("megatron-core")), width(known, load_software("meshwright")));
  EXPECT_LT(width(known, load_software("megatron-core")), width(unknown, load_software("megatron-core")));
}

TEST(PredictionInterval, FormsThatNoRunHasWidenIt) {
  ParallelPlan plan = testing::tiny_plan({.data = 2}), context = testing::tiny_plan({.context = 2}), experts = plan;
  experts.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  EXPECT_EQ(prediction_interval(plan).half_width, prediction_interval(plan.cluster).half_width);
  EXPECT_GT(prediction_interval(context).half_width, prediction_interval(plan).half_width);
  EXPECT_GT(prediction_interval(experts).half_width, prediction_interval(plan).half_width);
  ParallelPlan latent = plan;
  latent.model.attention.kind = AttentionKind::Latent;
  EXPECT_GT(prediction_interval(latent).half_width, prediction_interval(plan).half_width);
  ParallelPlan host = plan;
  host.offload_optimizer = true;
  EXPECT_EQ(prediction_interval(host).half_width, prediction_interval(plan).half_width);  // a CPU's ranks are their own host
  host.cluster.hardware = testing::small_gpu();
  EXPECT_GT(prediction_interval(host).half_width, prediction_interval(host.cluster).half_width);
  EXPECT_GT(prediction_interval(host).above(), prediction_interval(host).below()) << "such runs are late oftener than early";
  ParallelPlan slices = plan;
  slices.slices = 2;
  EXPECT_GT(prediction_interval(slices).half_width, prediction_interval(plan).half_width);
}

// What of its speed was the part's is not known.
TEST(PredictionInterval, AProgramMayBeLateOnAPartOnWhichItsRunsWereNot) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.cluster = {load_hardware_profile("a100-80gb-sxm"), 2, load_software("megatron-lm-2022")};
  const PredictionInterval known = prediction_interval(plan);
  EXPECT_TRUE(known.is_even());
  plan.cluster.software.fitted_parts = "h100-80gb-sxm a100-80gb-pcie";
  const PredictionInterval other = prediction_interval(plan);
  EXPECT_GT(other.above(), known.above());
  EXPECT_EQ(other.below(), known.below());
  plan.cluster.hardware = load_hardware_profile("a40-48gb");
  EXPECT_TRUE(prediction_interval(plan).is_even()) << "its own interval is that of a part no run was fitted to";
  plan.cluster.hardware = load_hardware_profile("a100-80gb-sxm");
  plan.cluster.software.learned_interval = 0.05;
  EXPECT_EQ(prediction_interval(plan).late, 0) << "runs of this program on this machine";
  plan.cluster.software.learned_interval = 0;
  plan.cluster.software.fitted_parts.clear();
  EXPECT_TRUE(prediction_interval(plan).is_even()) << "to no run: as wide as its file says";
}

TEST(PredictionInterval, AnOrderIsAsSureAsTheGapIsWide) {
  const ParallelPlan plan = testing::tiny_plan({.data = 2});
  const auto chance = [&](double step, double than) { return chance_faster({plan, Seconds(step)}, {plan, Seconds(than)}); };
  EXPECT_NEAR(chance(1, 1), 0.5, 1e-9);
  EXPECT_NEAR(chance(1, 1.1) + chance(1.1, 1), 1, 1e-9);
  EXPECT_GT(chance(1, 1.2), chance(1, 1.1));
}

TEST(PredictionInterval, StudentsQuartilesOfAlikePlans) {  // three degrees: 0.765 deviations hold a half, 1.638 four of five
  const double width = 0.1, deviation = std::log1p(width) / 1.2816;
  const ForeseenStep step{Seconds(1), width, {}};
  const auto chance = [&](double deviations) { return chance_faster(step, {Seconds(std::exp(deviations * deviation)), width, {}}); };
  EXPECT_NEAR(chance(0.3 * 0.7649), 0.75, 1e-4);
  EXPECT_NEAR(chance(0.3 * 1.6377), 0.90, 1e-4);
  EXPECT_NEAR(chance(-0.3 * 1.6377), 0.10, 1e-4);
}

// What two plans miss together cancels, and only that: the less alike they are the less their order says.
TEST(PredictionInterval, AnOrderOfPlansThatAreNotAlikeIsLessSure) {
  const ParallelPlan plan = testing::tiny_plan({.data = 2}), tensor = testing::tiny_plan({.tensor = 2});
  const PredictedStep now{plan, Seconds(1)};
  EXPECT_LT(chance_faster(now, {tensor, Seconds(1.1)}), chance_faster(now, {plan, Seconds(1.1)}));
  const Likeness here{.kind = "", .numbers = "bf16", .at = {0}}, far{.kind = "", .numbers = "bf16", .at = {9}};
  const double width = 0.1, apart = std::sqrt(0.09 + 2) * std::log1p(width) / 1.2816;
  EXPECT_NEAR(chance_faster(ForeseenStep{Seconds(1), width, here}, {Seconds(std::exp(1.6377 * apart)), width, far}), 0.90, 1e-4);
}

TEST(PredictionInterval, HoldsThePrediction) {
  const PredictionInterval narrow{0.1, ""}, wide{2.0, ""}, late{.half_width = 0.3, .basis = "", .late = 0.4};
  EXPECT_DOUBLE_EQ(late.high(Seconds(10)).count(), 15);
  EXPECT_DOUBLE_EQ(late.low(Seconds(10)).count(), 7);
  EXPECT_DOUBLE_EQ(narrow.low(Seconds(10)).count(), 9);
  EXPECT_DOUBLE_EQ(narrow.high(Seconds(10)).count(), 11);
  EXPECT_GT(wide.low(Seconds(10)).count(), 0);
}

}  // namespace
}  // namespace sim
