// A number that is all of a text.
#pragma once

#include <charconv>
#include <cstdint>
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

// "310", or "120*2": a number, so many times.
struct Repeated {
  std::int64_t number = 0, times = 1;
};
inline std::optional<Repeated> repeated_in(std::string_view text, Repeated low, Repeated high) {
  const std::size_t star = text.find('*');
  const auto number = number_in<std::int64_t>(text.substr(0, star), low.number, high.number);
  const auto times = star == std::string_view::npos ? std::optional<std::int64_t>(1)
                                                    : number_in<std::int64_t>(text.substr(star + 1), low.times, high.times);
  return number && times ? std::optional(Repeated{*number, *times}) : std::nullopt;
}

}  // namespace sim
