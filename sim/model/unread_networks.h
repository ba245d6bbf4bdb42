// Families that are not read, and what they have that no word of ModelConfig says: a refusal tells it, so that nobody searches for a slip in a name.
#pragma once

#include <optional>
#include <string_view>

namespace sim {

std::optional<std::string_view> why_unread(std::string_view family);

}  // namespace sim
