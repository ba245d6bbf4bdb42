// A number that is all of a text.
#pragma once

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace sim {

// None where something stands beside it, or where it lies outside of low .. high; "nan" is in no range.
template <class Number>
std::optional<Number> number_in(std::string_view text, Number low = std::numeric_limits<Number>::lowest(),
                                Number high = std::numeric_limits<Number>::max()) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_all = error == std::errc{} && end == text.data() + text.size() && value >= low && value <= high;
  return is_all ? std::optional(value) : std::nullopt;
}

}  // namespace sim
