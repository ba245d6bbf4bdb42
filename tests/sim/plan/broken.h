// What a broken rule says, for the tests of rules.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "sim/plan/parallel_plan.h"

namespace sim::testing {

inline auto broken(const std::string& where, const std::string& words) {
  using ::testing::Field;
  return ::testing::Contains(::testing::AllOf(Field(&Violation::where, where), Field(&Violation::problem, ::testing::HasSubstr(words))));
}

}  // namespace sim::testing
