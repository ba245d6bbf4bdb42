// GPU names of published rows -> hardware profiles.
#pragma once

#include <string>
#include <string_view>

namespace sim {

// Empty: no such part is known.
std::string profile_of_part(std::string_view part);
std::string known_parts();

}  // namespace sim
