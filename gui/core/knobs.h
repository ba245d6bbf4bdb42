// What a person may turn on a plan: the fields of its layout (sim/plan/plan_fields.h), and what follows a turn: the data degree, as
// devices / (tensor x pipeline x context), the stage cut, what no longer divides.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "sim/plan/plan_fields.h"

namespace gui {

struct Knob {
  const sim::PlanField* field = nullptr;
  bool doubles = false;  // a step of it; else one to the next value that can be
};
bool canHave(const sim::Schedule& schedule, const sim::ParallelPlan& plan, std::int32_t chunks);  // in one pass of the plan's pipeline

std::span<const Knob> allKnobs();  // in the order of the plan file; without what follows (data, microbatches) and the stage cut

struct Turn {
  std::string_view name;  // of the field
  sim::FieldValue value;
};
// The stage cut is kept where stages and chunks are, and even otherwise; a schedule takes the chunks that it needs, and chunks a schedule that
// can have them. The result may break rules: sim::violations says which. Throws sim::InputError: no value of the field.
sim::ParallelPlan turned(sim::ParallelPlan plan, const Turn& turn);

// Where an integer stands after so many steps up (down: less than 0) through values that break no rule, as far as there are any; from one
// that breaks a rule to no other: one further.
std::int64_t stepped(const sim::ParallelPlan& plan, const Knob& knob, int steps);

// The boundary in front of virtual stage `part` moved to layer `first`, as far as its neighbors leave a layer each.
struct Boundary {
  std::size_t part = 1;
  sim::LayerIndex first;
};
sim::ParallelPlan movedBoundary(sim::ParallelPlan plan, const Boundary& boundary);

}  // namespace gui
