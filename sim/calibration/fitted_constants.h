// The constants that may be fitted to end-to-end rows: few for a software stack, few for a part. All others are data sheets, facts about
// the software, or fitted to kernel points.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "sim/clock/device.h"
#include "sim/cluster/software_stack.h"

namespace sim {

template <typename Profile>
struct FittedConstant {
  std::string_view name;  // as in the profile
  std::string_view unit;  // of its text there; empty: a plain number
  double low, high;       // searched between
  double (*get)(const Profile&);
  void (*set)(Profile&, double);
  bool own = false;      // starts from what the profile states, not from what all have in common
  bool divides = false;  // a time is divided by it
  bool fitted =
      true;  // to the record; else it stays as the profile states it, and moves where someone's own runs ask for it (sim/calibration)
};
inline constexpr std::size_t kStackConstants = 8, kPartConstants = 5;

std::span<const FittedConstant<SoftwareStack>> stack_constants();
std::span<const FittedConstant<KernelTraits>> part_constants();

}  // namespace sim
