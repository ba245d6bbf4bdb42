#include "executor/launch/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/units/input_error.h"

namespace executor {
namespace {

using testing::HasSubstr;

Surroundings ranks(std::int32_t size, std::int32_t gpus, bool has_mpi) {
  return {.place = {.rank = sim::Rank(size - 1), .size = size, .local_rank = size - 1, .local_size = size, .is_launched = size > 1},
          .has_mpi = has_mpi,
          .knows_gpus = true,
          .gpus = gpus,
          .no_gpu_because = "The NVIDIA driver on your system is too old (found version 11040)."};
}
std::string refusal(const DeviceWish& wish, const Surroundings& around) {
  try {
    choose_device(wish, around);
  } catch (const sim::InputError& error) {
    return error.what();
  }
  return "none";
}
const DeviceWish kForGpus{.planned = sim::DeviceKind::Gpu};

TEST(DeviceChoice, FollowsThePlan) {
  EXPECT_TRUE(choose_device({}, ranks(1, 4, false)).device.is_cpu());
  EXPECT_EQ(choose_device({}, ranks(1, 4, false)).why, "the plan is for CPU ranks");
  const DeviceChoice gpu = choose_device(kForGpus, ranks(1, 4, false));
  EXPECT_EQ(gpu.device, c10::Device("cuda:0"));
  EXPECT_EQ(gpu.joint, Joint::Alone);
  EXPECT_EQ(gpu.why, "the plan is for GPUs, and 4 can be used");
}

TEST(DeviceChoice, OneRankAGpuIsJoinedByNccl) {
  const DeviceChoice choice = choose_device(kForGpus, ranks(4, 4, true));
  EXPECT_EQ(choice.device, c10::Device("cuda:3"));
  EXPECT_EQ(choice.joint, Joint::Nccl);
  EXPECT_EQ(choose_device(kForGpus, ranks(4, 4, false)).joint, Joint::Nccl) << "torchrun-style variables";
}

TEST(DeviceChoice, RanksThatShareAGpuAreStaged) {
  const DeviceChoice choice = choose_device(kForGpus, ranks(2, 1, true));
  EXPECT_EQ(choice.device, c10::Device("cuda:0"));
  EXPECT_EQ(choice.joint, Joint::StagedMpi);
  EXPECT_THAT(choice.why, HasSubstr("no measure of GPUs"));
  EXPECT_EQ(choose_device({.device = "cuda:1", .planned = sim::DeviceKind::Gpu}, ranks(2, 4, true)).device, c10::Device("cuda:1"));
}

// srun --gpus-per-task=1: every rank sees one card, number 0, and it is another one each time.
TEST(DeviceChoice, ACardIsSharedWhereItsUuidSaysSo) {
  Surroundings around = ranks(4, 1, true);
  around.shares_card = false;
  EXPECT_EQ(choose_device(kForGpus, around).joint, Joint::Nccl);
  EXPECT_EQ(choose_device(kForGpus, around).device, c10::Device("cuda:0"));
  around.shares_card = true;
  EXPECT_EQ(choose_device(kForGpus, around).joint, Joint::StagedMpi);
  EXPECT_EQ(card_of(kForGpus, ranks(1, 0, false)), "");
}

TEST(DeviceChoice, RefusesWithTheReasonAndARemedy) {
  Surroundings no_build = ranks(1, 0, false);
  no_build.knows_gpus = false;
  EXPECT_THAT(refusal(kForGpus, no_build), HasSubstr("cmake --preset cuda"));
  EXPECT_THAT(refusal(kForGpus, ranks(1, 0, false)),
              testing::AllOf(HasSubstr("driver on your system is too old"), HasSubstr("--device cpu")));
  EXPECT_THAT(refusal({.device = "cuda:7"}, ranks(1, 2, false)), HasSubstr("cuda:7 is not there: 2 GPUs are"));
  EXPECT_THAT(refusal(kForGpus, ranks(2, 1, false)), HasSubstr("2 ranks on this host share 1 GPU,"));
  EXPECT_THAT(refusal({.communication = "nccl", .planned = sim::DeviceKind::Gpu}, ranks(2, 1, true)), HasSubstr("Duplicate GPU detected"));
  EXPECT_THAT(refusal({}, ranks(2, 0, false)), HasSubstr("only MPI joins CPU ranks"));
  EXPECT_THAT(refusal({.communication = "nccl"}, ranks(2, 2, true)), HasSubstr("compute on CPUs"));
  EXPECT_THAT(refusal({.communication = "mpi", .planned = sim::DeviceKind::Gpu}, ranks(2, 2, false)), HasSubstr("start them with mpirun"));
  EXPECT_THAT(refusal({.device = "tpu", .communication = "smoke"}, ranks(1, 0, false)),
              testing::AllOf(HasSubstr("tpu"), HasSubstr("smoke")));
}

TEST(DeviceChoice, LooksAround) {
  const Surroundings around = look_around({}, true);
  EXPECT_TRUE(around.has_mpi);
  EXPECT_TRUE(around.gpus > 0 || !around.knows_gpus || !around.no_gpu_because.empty()) << "whoever finds none says why";
}

}  // namespace
}  // namespace executor
