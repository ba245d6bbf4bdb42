#include "executor/launch/machine_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

using testing::HasSubstr;
using testing::Not;

MachineFacts two_cards() {
  const CardFacts card{.name = "NVIDIA H200",
                       .memory = sim::Bytes(std::int64_t{140} << 30),
                       .capability = "9.0",
                       .clock = "1980 MHz",
                       .bus = "0000:1b:00.0"};
  return {.around = {.place = {}, .has_mpi = true, .knows_gpus = true, .gpus = 2, .no_gpu_because = {}},
          .cuda = "13.0",
          .driver = "13.1",
          .nccl = "2.28.9",
          .cards = {card, card},
          .apart = {},
          .shared_memory = sim::Bytes(std::int64_t{8} << 30)};
}

TEST(MachineReport, NothingIsSaidAgainstAMachineThatHasAll) {
  const MachineReport report = report_of(two_cards());
  EXPECT_TRUE(report.can_run);
  EXPECT_THAT(report.text, HasSubstr("This machine can run ranks on GPUs."));
  EXPECT_THAT(report.text, HasSubstr("cuda:1  NVIDIA H200, 140 GiB, compute 9.0, at most 1980 MHz, ECC"));
  EXPECT_THAT(report.text, HasSubstr("a driver for CUDA 13.1, built with 13.0"));
  EXPECT_THAT(report.text, HasSubstr("NCCL 2.28.9"));
  EXPECT_THAT(report.text, Not(HasSubstr("note")));
}

struct Flaw {
  const char* said;
  void (*put)(MachineFacts& facts);
  bool stops = false;
};
const Flaw kFlaws[] = {
    {"a build for GPUs", [](MachineFacts& facts) { facts.around.knows_gpus = false; }, true},
    {"lacks  a driver\n", [](MachineFacts& facts) { facts.driver.clear(); }, true},
    {"a driver for CUDA 13.0: it knows 12.4",
     [](MachineFacts& facts) {
       facts.driver = "12.4";
       facts.is_driver_older = true;
     },
     true},
    {"may use: no device",
     [](MachineFacts& facts) {
       facts.around.no_gpu_because = "no device";
       facts.cards.clear();
     },
     true},
    {"lacks  NCCL", [](MachineFacts& facts) { facts.nccl.clear(); }, true},
    {"without MPI", [](MachineFacts& facts) { facts.build_has_mpi = false; }},
    {"a slice of a card", [](MachineFacts& facts) { facts.cards[1].name += " MIG 1g.18gb"; }},
    {"cuda:0  ECC is off", [](MachineFacts& facts) { facts.cards[0].corrects_errors = false; }},
    {"takes one process", [](MachineFacts& facts) { facts.cards[0].is_for_one_process = true; }},
    {"NUMA node is not known", [](MachineFacts& facts) { facts.cards[0].has_known_cores = false; }},
    {"/dev/shm has 64.0 MiB free", [](MachineFacts& facts) { facts.shared_memory = sim::Bytes(64 << 20); }},
    {"cuda:0 and cuda:1 do not reach", [](MachineFacts& facts) { facts.apart.emplace_back(0, 1); }},
};

TEST(MachineReport, EachFlawIsNamed) {
  for (const Flaw& flaw : kFlaws) {
    MachineFacts facts = two_cards();
    flaw.put(facts);
    const MachineReport report = report_of(facts);
    EXPECT_THAT(report.text, HasSubstr(flaw.said));
    EXPECT_EQ(report.can_run, !flaw.stops) << flaw.said;
  }
}

TEST(MachineReport, OneCardNeedsNoNccl) {
  MachineFacts facts = two_cards();
  facts.cards.pop_back();
  facts.nccl.clear();
  EXPECT_TRUE(report_of(facts).can_run);
}

TEST(MachineReport, IsMadeOfThisMachine) {
  const MachineReport report = report_of(look_at_machine(look_around({}, false)));
  EXPECT_EQ(report.can_run, look_around({}, false).gpus > 0);
}

}  // namespace
}  // namespace executor
