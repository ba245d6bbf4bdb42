#include "executor/training/priority_sums.h"

#include "sim/units/input_error.h"
#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

constexpr std::int64_t kElements = 100;

sim::ParallelPlan plan_of(sim::Bytes credit) {
  sim::ParallelPlan plan = tiny_plan();
  plan.partition_size = sim::Bytes(kElements * 8);
  plan.credit_size = credit;
  return plan;
}

sim::Task part(std::int32_t number, sim::BucketIndex bucket, std::int32_t priority) {
  return {.key = {.stage = sim::StageIndex(0),
                  .phase = sim::Phase::Gradients,
                  .operation = sim::Operation::AllReduce,
                  .group = sim::MeshAxis::Data,
                  .sequence = number},
          .stream = sim::Stream::Reduce,
          .bucket = bucket,
          .payload = sim::Bytes(kElements * 8),
          .priority = priority};
}

const sim::Task kComputing{.key = {.phase = sim::Phase::Backward, .operation = sim::Operation::Mlp}};
sim::Task update(sim::BucketIndex bucket) {
  return {.key = {.phase = sim::Phase::Step, .operation = sim::Operation::Update}, .bucket = bucket};
}

class Sums {
 public:
  explicit Sums(sim::Bytes credit)
      : training_(plan_of(credit)), sums(training_.plan, training_.communicators, training_.parameters, &training_.recorder) {
    training_.recorder.begin_step(0);
    sums.begin_step(0);
  }
  std::vector<std::int32_t> come() {
    std::vector<std::int32_t> numbers;
    for (const sim::Span& span : training_.recorder.last().spans) numbers.push_back(span.key.sequence);
    return numbers;
  }

 private:
  Training training_;

 public:
  PrioritySums sums;
};

using testing::ElementsAre;
constexpr sim::BucketIndex kDeep{1}, kFront{2};

// The second part of the deep layer is overtaken by the front layer's, which is ready later.
TEST(PrioritySums, TheFrontLayersPartStartsFirst) {
  Sums of(sim::Bytes(1));
  EXPECT_TRUE(of.sums.takes(part(0, kDeep, 2)));
  EXPECT_TRUE(of.sums.takes(part(1, kDeep, 2)));
  EXPECT_FALSE(of.sums.takes(kComputing));
  EXPECT_THAT(of.come(), ElementsAre()) << "under way";
  EXPECT_TRUE(of.sums.takes(part(2, kFront, 1)));
  EXPECT_FALSE(of.sums.takes(kComputing));
  EXPECT_THAT(of.come(), ElementsAre(0));
  EXPECT_FALSE(of.sums.takes(update(kFront)));
  EXPECT_THAT(of.come(), ElementsAre(0, 2)) << "a layer waits for its own parts, not for all";
  EXPECT_EQ(of.sums.take(kFront), 0);
  EXPECT_EQ(of.sums.take(kDeep), 0);
  EXPECT_THAT(of.come(), ElementsAre(0, 2, 1));
}

TEST(PrioritySums, PartsStartWhileThereIsCredit) {
  Sums of(sim::Bytes(kElements * 8 + 1));  // two of them: the second starts on what is left
  for (const std::int32_t number : {0, 1, 2}) of.sums.takes(part(number, kDeep, 2));
  of.sums.takes(kComputing);
  of.sums.takes(kComputing);
  EXPECT_THAT(of.come(), ElementsAre(0, 1));
}

TEST(PrioritySums, AreOfCpuRanks) {
  const sim::ParallelPlan plan = plan_of(sim::Bytes(1));
  EXPECT_THROW(Training(plan, checked_device()), sim::InputError);
}

// What a step leaves is of that step, however late it comes.
TEST(PrioritySums, GoOnInTheNextStep) {
  Sums of(sim::Bytes(1));
  EXPECT_FALSE(of.sums.goes_on());
  of.sums.takes(part(0, kDeep, 2));
  of.sums.begin_step(1);
  EXPECT_TRUE(of.sums.goes_on());
  EXPECT_EQ(of.sums.take(kDeep), 0);
  EXPECT_EQ(of.sums.take(kDeep), std::nullopt) << "nothing has been summed since";
}

}  // namespace
}  // namespace executor
