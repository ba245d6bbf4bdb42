// A simulated plan taken apart for people: where its step and its memory go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/subject.h"
#include "planner/improvements.h"
#include "sim/engine/simulate.h"

namespace cli {

// Causes that name what a device waits for.
inline constexpr std::string_view kExposedCommunication = "exposed communication", kWaitingForHost = "waiting for the host";

struct StepCause {
  std::string name;
  sim::Seconds time{};   // mean over all ranks
  bool of_host = false;  // of what nothing hides: the host's steps and copies, for which a device waits
};
struct HeldTensors {  // alike, at the peak of the fullest rank
  std::string what;
  sim::MemoryCategory category{};
  std::int64_t count = 0;
  sim::Bytes bytes{};
};

struct Checked {
  Subject subject;
  sim::SimulationResult result;          // summary
  std::vector<StepCause> causes;         // computing, recomputing, ...: always the same ones, which add up to the step
  std::vector<StepCause> communication;  // what of it nothing hides, by kind, the longest first
  std::vector<HeldTensors> tensors;      // the largest first
  double out_of_memory_chance = 0;
  sim::Bytes limit{};  // of a device
};
Checked checked(Subject subject, sim::Bytes limit);
double chance_faster(const Checked& one, const Checked& than);  // truly

}  // namespace cli
