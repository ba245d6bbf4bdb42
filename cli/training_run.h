// simulate --steps: options as a training, its draws as a table.
#pragma once

#include <string>

#include "cli/options.h"
#include "sim/engine/simulate.h"
#include "sim/goodput/goodput.h"

namespace cli {

// The step of `usual`, and that of each stage with one slow rank. Throws InputError: a text without its unit, out of range.
sim::Training training_of(const TrainingOptions& options, const sim::ModelGraph& model, const sim::ParallelPlan& plan, sim::Seconds usual);

std::string goodput_text(const sim::Training& training, const sim::Goodput& goodput);

}  // namespace cli
