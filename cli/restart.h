// Going on after a rank failed: from where, and what is lost.
#pragma once

#include <cstdint>
#include <string>

namespace cli {

struct RestartPoint {
  std::int64_t reached = 0;  // steps of which a line is in metrics.ndjson
  std::int64_t from = 0;     // of the newest complete checkpoint; 0: there is none, the run begins anew
};
RestartPoint restart_point(const std::string& folder);

// Whether starting again may help: not after a refused input, an interruption or a usage error.
bool may_restart(int status);

struct Restart {
  std::int64_t number = 1, of = 1;
};
std::string restart_text(const RestartPoint& point, const Restart& restart);

}  // namespace cli
