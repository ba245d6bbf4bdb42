// Graphs of the checked device, in the place of a GPU's.
#pragma once

#include <memory>

#include "executor/training/step_graph.h"
#include "tests/executor/checked_device/recording.h"

namespace executor {

inline GraphRecorder checked_graph() {
  const auto replay = std::make_shared<std::function<void()>>();
  return {.begin = begin_recording, .end = [replay] { *replay = end_recording(); }, .replay = [replay] { (*replay)(); }};
}

}  // namespace executor
