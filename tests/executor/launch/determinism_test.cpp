#include "executor/launch/determinism.h"

#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace executor {
namespace {

TEST(Determinism, TellsLibTorchAndCublas) {
  compute_deterministically();
  EXPECT_TRUE(at::globalContext().deterministicAlgorithms());
  EXPECT_TRUE(at::globalContext().deterministicAlgorithmsWarnOnly());
  EXPECT_STREQ(std::getenv("CUBLAS_WORKSPACE_CONFIG"), ":4096:8");
  at::globalContext().setDeterministicAlgorithms(false, false);
}

}  // namespace
}  // namespace executor
