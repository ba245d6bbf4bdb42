#include "sim/units/told.h"

#include <fstream>

namespace sim {

std::string told_beside(const std::string& output) { return output + ".told"; }

Told tell_beside(const std::string& output) {
  return [path = told_beside(output)](const HowFar& far) { std::ofstream(path) << far.done << ' ' << far.all << '\n'; };
}

HowFar how_far_beside(const std::string& output) {
  std::ifstream file(told_beside(output));
  HowFar far;
  if (!(file >> far.done >> far.all)) return {};
  return far;
}

}  // namespace sim
