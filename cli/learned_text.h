// What calibrate learned from measured plans, for people: each step before and after, what was identifiable, how sure the profile is now.
#pragma once

#include <string>

#include "sim/calibration/learn.h"

namespace cli {

std::string learned_text(const sim::Learned& learned);

}  // namespace cli
