// What may change where a run goes on from a checkpoint, if it is asked for: how it trains from there, not what. Everything else of a training stays
// as it was; the layout is free.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/parallel_plan.h"

namespace sim {

std::vector<std::string_view> changeable_settings();  // "learning_rate", ... as apply_change() takes them

// "learning_rate=1e-4", into the plan, whose rules it may break: see violations(). Throws InputError: no such setting, no number.
void apply_change(ParallelPlan& plan, const std::string& text);

// Whether a difference that differences() found ("/training/gradient_clip: ...") is of a changeable setting; its name, or nothing.
std::string_view changeable_setting_of(std::string_view difference);

}  // namespace sim
