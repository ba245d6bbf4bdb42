// Numbers that a profile has no use for: nothing is predicted from them. Since format 2 a profile that states one is refused, and none is written.
// Format 1 keeps them, so that plans which hold such a profile stay what they were.
#pragma once

#include "sim/units/json_reader.h"

namespace sim {

constexpr std::int32_t kNewestProfileFormat = 2;

// Prices come from the clocks, by block "kernels": else from the roofline, and points measured.
bool describes_kernels(const Json& hardware);
void refuse_unread_hardware(const JsonReader& profile);
void refuse_unread_software(const JsonReader& profile);
void erase_unread_hardware(Json& profile);

}  // namespace sim
