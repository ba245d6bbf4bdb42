#include "executor/launch/memory_snapshot.h"

#include <gtest/gtest.h>

#include "sim/units/input_error.h"

namespace executor {
namespace {

TEST(MemorySnapshot, IsRefusedOnACpu) { EXPECT_THROW(start_memory_history(c10::kCPU), sim::InputError); }

}  // namespace
}  // namespace executor
