// So many of something, as people say it: "1 rank", "2 ranks", "3 microbatches".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sim {

std::string counted(std::int64_t count, std::string_view one);

}  // namespace sim
