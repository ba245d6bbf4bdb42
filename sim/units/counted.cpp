#include "sim/units/counted.h"

#include <fmt/format.h>

namespace sim {

std::string counted(std::int64_t count, std::string_view one) {
  const char* const many = one.ends_with("ch") || one.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : many);
}

}  // namespace sim
