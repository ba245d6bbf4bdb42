// What a task of a simulated plan moves or computes, and how well: the figures behind a slice.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "gui/core/simulated_plan.h"

namespace gui {

struct SliceFigures {
  sim::Bytes payload{};                 // of a communication, a host copy; 0: none
  bool is_posted = false;               // it waits for no byte: the time of the transfer is the receiver's
  std::int32_t ranks = 1, on_node = 1;  // of the group that communicates; of them on one node
  std::string_view algorithm{};         // that carries it, as it is priced; empty: none, or a message between two
  std::optional<double> flops{};        // of computation that is made of products
  double share_of_peak = 0;             // of the device's, at the plan's precision
  sim::SimTime alone{};                 // how long it takes when it has its links for itself
};
SliceFigures figuresOf(const SimulatedPlan& plan, std::uint32_t position);  // of a span of its timeline

}  // namespace gui
