#include "moves.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/units/input_error.h"
#include "sim/units/unit_text.h"

namespace moved {
namespace {

using sim::Json;
using Pointer = Json::json_pointer;

bool is_quantity(const Json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return sim::parse_bytes(text) || sim::parse_bytes_per_second(text) || sim::parse_flops_per_second(text) || sim::parse_seconds(text);
}

void add_numbers(const Json& value, const Pointer& at, std::vector<std::string>& found) {
  if (value.is_object())
    for (const auto& [key, item] : value.items()) {
      if (key != "sources") add_numbers(item, at / key, found);
    }
  if (value.is_array())
    for (std::size_t place = 0; place < value.size(); ++place) add_numbers(value[place], at / place, found);
  if (value.is_number() || is_quantity(value)) found.push_back(at.to_string());
}

Json with(const Json& profile, const std::string& pointer, Json value) {
  Json other = profile;
  other[Pointer(pointer)] = std::move(value);
  return other;
}

// What the reader says of that number, or of one that does not go with it; none: it takes the document.
std::optional<std::string> refusal(const Json& profile, const std::string& pointer, const Read& read) {
  try {
    read(profile);
  } catch (const sim::InputError& error) {
    for (const sim::Violation& violation : error.violations())
      if (violation.where.ends_with(pointer)) return violation.problem;
    return error.what();
  }
  return std::nullopt;
}

// "450 GB/s" times a factor.
std::string scaled(const std::string& text, double factor) {
  char* unit = nullptr;
  const double number = std::strtod(text.c_str(), &unit);
  return fmt::format("{}{}", number * factor, unit);
}

Json scaled(const Json& value, double factor) {
  if (value.is_string()) return scaled(value.get<std::string>(), factor);
  if (!value.is_number_integer()) return value.get<double>() * factor;
  const auto whole = value.get<std::int64_t>();
  const auto by = std::max<std::int64_t>(1, std::llround(std::abs(static_cast<double>(whole) * (factor - 1))));
  return factor > 1 ? whole + by : whole - by;
}

double number_of(const Json& value) {
  return value.is_string() ? std::strtod(value.get_ref<const std::string&>().c_str(), nullptr) : value.get<double>();
}

struct Ends {
  std::optional<double> low, high;
};

std::optional<double> number_in(std::string text) {
  std::erase(text, ',');
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  return end == text.c_str() ? std::nullopt : std::optional(number);
}

// "is 1e+300, expected a number from 0 to 1": the ends; "... from 1 up": the low one; "... expected 2 or 4": both.
Ends stated_ends(const std::string& problem) {
  const std::size_t from = problem.rfind(" from ");
  if (const std::size_t one = problem.rfind("expected "), other = problem.rfind(" or ");
      from == std::string::npos && other != std::string::npos)
    return {number_in(problem.substr(one + 9)), number_in(problem.substr(other + 4))};
  if (from == std::string::npos) return {};
  const std::size_t to = problem.find(" to ", from);
  return {number_in(problem.substr(from + 6)), to == std::string::npos ? std::nullopt : number_in(problem.substr(to + 4))};
}

constexpr double kTooLarge = 1e300, kManyTimes = 1000;

}  // namespace

std::vector<std::string> numbers_of(const Json& profile) {
  std::vector<std::string> found;
  add_numbers(profile, Pointer(), found);
  return found;
}

std::vector<Move> moves_of(const Json& profile, const std::string& pointer, const Read& read) {
  const Json& value = profile[Pointer(pointer)];
  const double number = number_of(value);
  std::vector<Move> moves;
  const auto add = [&](std::string words, Json to) {
    Json other = with(profile, pointer, std::move(to));
    const bool is_refused = refusal(other, pointer, read).has_value();
    moves.push_back({std::move(words), std::move(other), is_refused});
  };
  if (number != 0) add("a fifth up", scaled(value, 1.2));
  if (number != 0 && moves.back().is_refused) add("a fifth down", scaled(value, 0.8));
  if (value.is_string()) {
    const std::string unit = value.get<std::string>().substr(value.get<std::string>().find_first_not_of("0123456789.eE+-"));
    if (number != 0) add("0", "0" + unit);
    add("many times", fmt::format("{}{}", number == 0 ? 1 : number * kManyTimes, unit));
    return moves;
  }
  if (number == 0) add("1", 1);
  const Ends ends = stated_ends(refusal(with(profile, pointer, kTooLarge), pointer, read).value_or(""));
  const auto end = [&](const char* words, std::optional<double> at) {
    if (at && *at != number)
      add(fmt::format("its {} end {}", words, *at),
          value.is_number_integer() && *at == std::trunc(*at) ? Json(static_cast<std::int64_t>(*at)) : Json(*at));
  };
  end("low", ends.low);
  end("high", ends.high);
  return moves;
}

std::vector<std::string> decoration(const Json& profile, const std::vector<std::string>& pointers, const Read& read, const Answers& moves) {
  std::vector<std::string> found;
  for (const std::string& pointer : pointers) {
    if (refusal(profile, pointer, read)) continue;
    for (const Move& move : moves_of(profile, pointer, read))
      if (!move.is_refused && !moves(move.profile)) found.push_back(pointer + ": " + move.words);
  }
  return found;
}

}  // namespace moved
