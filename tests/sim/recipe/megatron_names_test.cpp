#include <gmock/gmock.h>

#include "sim/recipe/megatron_network.h"

namespace sim {
namespace {

TEST(MegatronNames, WhatMattersIsNeverWithoutEffect) {
  for (const char* const name : {"fp8-format", "fp8", "fp4-format", "window-size", "tp-comm-overlap", "cuda-graph-impl",
                                 "deterministic-mode", "qk-layernorm", "cpu-offloading", "exp-avg-dtype"}) {
    EXPECT_FALSE(has_name(kMegatronWithoutEffect, name)) << name;
    EXPECT_TRUE(is_known_to(kMegatron, name)) << name;
  }
}

TEST(MegatronNames, UsualOnesAreKnown) {
  for (const char* const name :
       {"data-path", "save", "log-interval", "train-iters", "lr-warmup-fraction", "tokenizer-model", "master-port"})
    EXPECT_TRUE(has_name(kMegatronWithoutEffect, name)) << name;
}

TEST(MegatronNames, WhatChangesTimeOrMemoryIsNotWithoutEffect) {
  for (const char* const name :
       {"no-bias-swiglu-fusion", "no-rope-fusion", "empty-unused-memory-level", "no-scatter-gather-tensors-in-pipeline", "sft",
        "checkpoint-in-cpu", "DDP-impl", "optimizer-selection", "main-params-dtype", "muon-num-ns-steps", "disable-mamba-mem-eff-path"})
    EXPECT_FALSE(has_name(kMegatronWithoutEffect, name)) << name;
}

}  // namespace
}  // namespace sim
