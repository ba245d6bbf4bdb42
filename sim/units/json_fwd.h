// Names the JSON type without its 5 s header, for headers that mention it.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace sim {
using Json = nlohmann::ordered_json;
}
