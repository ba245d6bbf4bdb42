#include "planner/axis_words.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "planner/fixed_axes.h"
#include "planner/nearest.h"
#include "sim/units/input_error.h"

namespace planner {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string said(std::string_view text) { return to_text(axes_said(text)); }

TEST(AxisWords, WhatPeopleCallTheAxes) {
  EXPECT_EQ(said("tp=8"), "tensor=8");
  EXPECT_EQ(said("pp=4"), "pipeline=4");
  EXPECT_EQ(said("--expert-model-parallel-size=8"), "expert=8");
  EXPECT_EQ(said("1F1B"), "schedule=1f1b");
  EXPECT_EQ(said("schedule=ZB-1P"), "schedule=zb-1p");
  EXPECT_EQ(said("ZeRO3"), "zero=3");
  EXPECT_EQ(said("ZeRO-3"), "zero=3");
  EXPECT_EQ(said("gradient checkpointing"), "recompute=full");
  EXPECT_EQ(said("gradient_checkpointing=false"), "recompute=none");
  EXPECT_EQ(said("ac=on"), "recompute=full");
  EXPECT_EQ(said("Interleaved 1F1B"), "schedule=interleaved");
  EXPECT_EQ(said("tensor=2"), "tensor=2");
  EXPECT_EQ(said("sp"), "sequence_parallel=true");
  EXPECT_EQ(said("sp=yes"), "sequence_parallel=true");
  EXPECT_EQ(said("sequence_parallel=off"), "sequence_parallel=false");
  EXPECT_EQ(said("vp=4"), "chunks=4");
  EXPECT_EQ(said("FULL_SHARD"), "zero=3");
  EXPECT_EQ(said("reshard_after_forward=never"), "reshard=false");
  EXPECT_EQ(said("zero=stage3"), "zero=3");
  EXPECT_EQ(said("zero=ZeRO-2"), "zero=2");
  EXPECT_EQ(said("sharding_strategy=FULL_SHARD"), "zero=3");
  EXPECT_EQ(said("--data-parallel-sharding-strategy=optim_grads"), "zero=2");
  EXPECT_EQ(said("zb"), "schedule=zb-1p");
  EXPECT_EQ(said("ZB-H2"), "schedule=zb-2p");
  EXPECT_EQ(said("schedule=zb"), "schedule=zb-1p");
  EXPECT_EQ(said("pipeline_parallel_schedule=Interleaved1F1B"), "schedule=interleaved");
  EXPECT_EQ(said("flash_attention"), "attention=flash2");
  EXPECT_EQ(said("flash_attention=false"), "attention=unfused");
  EXPECT_EQ(said("attn_implementation=flash_attention_3"), "attention=flash3");
  EXPECT_EQ(said("--ulysses-degree=4"), "context=4 context_algorithm=all_to_all");
}

TEST(AxisWords, WhatNobodySays) {
  EXPECT_THAT(axes_said("warp drive"), IsEmpty());
  EXPECT_THAT(axes_said("=4"), IsEmpty());
  EXPECT_THAT(axes_said("tensor="), IsEmpty());
}

std::string remedy_of(const std::string& text) {
  try {
    fixed_as_said({text});
  } catch (const sim::InputError& error) {
    return error.violations().front().remedy;
  }
  return "";
}

TEST(AxisWords, WhatIsSaidElsewhereIsSentThere) {
  for (const auto& [text, where] : std::map<std::string, std::string>{{"gas=8", "mbs=2"},
                                                                      {"GBS=512", "--global-batch"},
                                                                      {"seq_len=4096", "--sequence"},
                                                                      {"fp8", "--precision"},
                                                                      {"optimizer=muon", "--optimizer"},
                                                                      {"world_size=64", "--devices"},
                                                                      {"HSDP", "dp_replicate=4"},
                                                                      {"SHARD_GRAD_OP", "reshard=false"},
                                                                      {"sharding_strategy=SHARD_GRAD_OP", "reshard=false"},
                                                                      {"sharding_strategy=HYBRID_SHARD", "dp_replicate=4"},
                                                                      {"compile", "--software"},
                                                                      {"compile=true", "--software"},
                                                                      {"dualpipe", "dualpipev"},
                                                                      {"schedule=DualPipe", "dualpipev"},
                                                                      {"--num-layers-per-virtual-pipeline-stage=4", "vpp=2"}})
    EXPECT_THAT(remedy_of(text), HasSubstr(where)) << text;
}

TEST(AxisWords, ShardsTimesReplicasAreDataRanks) {
  std::vector<Argument> axes = axes_said("dp_shard=16");
  axes.push_back(axes_said("dp_replicate=4").front());
  settle_shards(axes);
  EXPECT_EQ(to_text(axes), "data=64 zero=3 replicas=4");
  std::vector<Argument> alone = axes_said("dp_shard=16");
  settle_shards(alone);
  EXPECT_EQ(to_text(alone), "data=16 zero=3");
}

// Every word leads to an axis and a value that the planner takes.
TEST(AxisWords, LeadToAxes) {
  for (const char* const text : {"tp=2",
                                 "pp=2",
                                 "dp=2",
                                 "cp=2",
                                 "ep=2",
                                 "vpp=2",
                                 "mbs=2",
                                 "zero_stage=1",
                                 "sp=true",
                                 "ac=full",
                                 "dp_replicate=2",
                                 "ddp",
                                 "fsdp",
                                 "etp=2",
                                 "per_device_train_batch_size=2",
                                 "ulysses",
                                 "offload",
                                 "no_sp",
                                 "full_recompute",
                                 "no_recompute",
                                 "gpipe",
                                 "interleaved",
                                 "vp=2",
                                 "local_batch_size=2",
                                 "reshard_after_forward=always",
                                 "ulysses=2",
                                 "no_shard",
                                 "full_shard",
                                 "distributed_optimizer",
                                 "stage2",
                                 "sharding_strategy=full_shard",
                                 "zero_bubble",
                                 "flash_attention",
                                 "use_flash_attn=true"}) {
    Fixed fixed;
    for (const Argument& axis : axes_said(text)) fixed.emplace(axis.name, axis.value);
    EXPECT_FALSE(fixed.empty()) << text;
    EXPECT_NO_THROW(read_fixed_axes(fixed)) << text;
  }
}

}  // namespace
}  // namespace planner
