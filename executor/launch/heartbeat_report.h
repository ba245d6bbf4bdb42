// A run that died, told from the heartbeats its ranks left: a line a rank. Printed by `meshwright-worker report`.
#pragma once

#include <cstdint>
#include <string>

namespace executor {

std::string heartbeat_report(const std::string& folder, std::int32_t ranks);

}  // namespace executor
