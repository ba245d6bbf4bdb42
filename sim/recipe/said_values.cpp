#include "sim/recipe/said_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace sim {
namespace {

// "auto" follows from others, and what a variable holds is told where it is looked up.
bool is_left_open(const Value& value) { return value.text() == "auto" || !unknowns_in(value.text()).empty(); }

void tell(const Value& value, std::string_view kind, std::string remedy) {
  value.unknown(fmt::format("is '{}', {}", shown(value.text()), kind), std::move(remedy));
}

}  // namespace

void flag_said(const Value& value, Draft&) {
  constexpr std::string_view kOn[] = {"true", "yes", "on", "1"}, kOff[] = {"off"};
  const std::string text = in_lower_case(value.text());
  const bool is_known = std::ranges::find(kOn, text) != std::end(kOn) || std::ranges::find(kOff, text) != std::end(kOff) || !is_on(text) ||
                        !is_on(value.text());
  if (!is_known && !is_left_open(value)) tell(value, "which is neither true nor false", "write true or false");
}

void number_said(const Value& value, Draft&) {
  if (is_on(value.text()) && !is_left_open(value) && numbers_of(value.text()).empty()) tell(value, "which is no number", "write a number");
}

void runs_said(const Value& value, Draft&) {
  const bool has_others = value.text().find_first_not_of("0123456789[]()*+-,.: ") != std::string::npos;
  if (is_on(value.text()) && !is_left_open(value) && has_others)
    tell(value, "which is neither a number nor a list of such", "write numbers");
}

void tell_other_word(const Value& value, std::span<const std::string_view> words) {
  const bool is_known = std::ranges::find(words, value.text()) != words.end();
  if (!is_known && is_on(value.text()) && !is_left_open(value))
    tell(value, "which is known to no release", fmt::format("use one of {}", fmt::join(words, ", ")));
}

}  // namespace sim
