// What calibrate learned from measured plans, for people: each step before and after, what was identifiable, how sure the profile is now.
#pragma once

#include <string>
#include <vector>

#include "sim/calibration/learn.h"

namespace cli {

// how: "measured", "traced".
std::string corrections_text(const std::vector<sim::Correction>& corrections, const std::string& how);
std::string learned_text(const sim::Learned& learned);

}  // namespace cli
