#include "sim/units/unit_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include "sim/units/number_text.h"

namespace sim {
namespace {

struct Unit {
  std::string_view name;
  double factor;
  std::string_view exponent = {};  // of decimal units, as text
};

constexpr std::array kBytes = std::to_array<Unit>({{"B", 1, "e0"},
                                                   {"kB", 1e3, "e3"},
                                                   {"KB", 1e3, "e3"},
                                                   {"MB", 1e6, "e6"},
                                                   {"GB", 1e9, "e9"},
                                                   {"TB", 1e12, "e12"},
                                                   {"KiB", 1024.0},
                                                   {"MiB", 1048576.0},
                                                   {"GiB", 1073741824.0},
                                                   {"TiB", 1099511627776.0}});
constexpr std::array kByteRates = std::to_array<Unit>({{"B/s", 1, "e0"},
                                                       {"kB/s", 1e3, "e3"},
                                                       {"MB/s", 1e6, "e6"},
                                                       {"GB/s", 1e9, "e9"},
                                                       {"TB/s", 1e12, "e12"},
                                                       {"MiB/s", 1048576.0},
                                                       {"GiB/s", 1073741824.0},
                                                       {"Gb/s", 1e9 / 8},
                                                       {"Mb/s", 1e6 / 8}});
constexpr std::array kFlopRates = std::to_array<Unit>(
    {{"FLOP/s", 1, "e0"}, {"MFLOP/s", 1e6, "e6"}, {"GFLOP/s", 1e9, "e9"}, {"TFLOP/s", 1e12, "e12"}, {"PFLOP/s", 1e15, "e15"}});
constexpr std::array kTimes =
    std::to_array<Unit>({{"s", 1, "e0"}, {"ms", 1e-3, "e-3"}, {"us", 1e-6, "e-6"}, {"ns", 1e-9, "e-9"}, {"ps", 1e-12, "e-12"}});

constexpr std::array kPowers = std::to_array<Unit>({{"kW", 1e3, "e3"}, {"W", 1, "e0"}});

constexpr std::array kDurations = std::to_array<Unit>({{"min", 60}, {"h", 3600}, {"d", 86400}, {"y", 365 * 86400.0}});

// The double nearest to what is written: "0.93 us" is read as 0.93e-6, not as a product of two rounded numbers.
std::optional<double> in_unit(std::string_view digits, const Unit& unit) {
  const bool has_exponent = digits.find_first_of("eE") != std::string_view::npos;
  if (!unit.exponent.empty() && !has_exponent) return number_in<double>(std::string(digits).append(unit.exponent));
  const std::optional<double> value = number_in<double>(digits);
  return value && std::isfinite(*value * unit.factor) ? std::optional(*value * unit.factor) : std::nullopt;
}

// "<number> <unit>", the space optional; no sign of infinity or NaN.
std::optional<double> parse(std::string_view text, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    std::string_view digits = text.substr(0, text.size() - unit.name.size());
    while (digits.ends_with(' ')) digits.remove_suffix(1);
    if (std::optional<double> value = number_in<double>(digits) ? in_unit(digits, unit) : std::nullopt) return value;
  }
  return std::nullopt;
}

template <class Result>
std::optional<Result> parsed(std::optional<double> number) {
  if (!number) return std::nullopt;
  return Result(*number);
}

// The shortest text that reads back to the same value; `plain` if no unit beats it.
template <class ReadsBack>
std::string shortest(double value, std::string plain, std::span<const Unit> units, const ReadsBack& reads_back) {
  for (const Unit& unit : units) {
    std::string text = fmt::format("{} {}", value / unit.factor, unit.name);
    if (text.size() < plain.size() && reads_back(text)) plain = std::move(text);
  }
  return plain;
}

std::string scaled(double value, std::span<const Unit> units) {  // units from small to large
  if (value == 0) return fmt::format("0 {}", units.front().name);
  const Unit* best = &units.front();
  for (const Unit& unit : units)
    if (std::abs(value) >= unit.factor) best = &unit;
  const double shown = value / best->factor;
  const int decimals = std::abs(shown) >= 100 ? 0 : std::abs(shown) >= 10 ? 1 : 2;
  return fmt::format("{:.{}f} {}", shown, decimals, best->name);
}

}  // namespace

std::optional<Bytes> parse_bytes(std::string_view text) {
  std::int64_t whole = 0;  // what to_exact_text writes is beyond a double's 53 bits
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error == std::errc{} && std::string_view(end, text.data() + text.size()) == " B") return Bytes(whole);
  const std::optional<double> number = parse(text, kBytes);
  if (!number || std::abs(*number) > 9e18) return std::nullopt;
  return Bytes(std::llround(*number));
}
std::optional<BytesPerSecond> parse_bytes_per_second(std::string_view text) { return parsed<BytesPerSecond>(parse(text, kByteRates)); }
std::optional<FlopsPerSecond> parse_flops_per_second(std::string_view text) { return parsed<FlopsPerSecond>(parse(text, kFlopRates)); }
std::optional<Watts> parse_watts(std::string_view text) { return parsed<Watts>(parse(text, kPowers)); }
std::optional<Seconds> parse_duration(std::string_view text) {
  const std::optional<Seconds> time = parsed<Seconds>(parse(text, kDurations));
  return time ? time : parse_seconds(text);
}
std::optional<Seconds> parse_seconds(std::string_view text) { return parsed<Seconds>(parse(text, kTimes)); }

std::string to_text(Bytes bytes) {
  static constexpr std::array units =
      std::to_array<Unit>({{"B", 1}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}});
  return scaled(static_cast<double>(bytes.value()), units);
}
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string to_text(Seconds time) {
  static constexpr std::array units = std::to_array<Unit>({{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
  return scaled(time.count(), units);
}
std::string duration_text(Seconds time) {
  for (const auto& [name, seconds] : {std::pair("days", 86400.0), std::pair("h", 3600.0), std::pair("min", 60.0)})
    if (const double count = time.count() / seconds; count >= 1)
      return count < 999.5 ? fmt::format("{:.3g} {}", count, name) : fmt::format("{:.0f} {}", count, name);
  return to_text(time);
}
std::string to_text(BytesPerSecond rate) {
  static constexpr std::array units = std::to_array<Unit>({{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}});
  return scaled(rate.value(), units);
}
std::string to_text(FlopsPerSecond rate) { return scaled(rate.value(), kFlopRates); }
std::string to_text(Joules energy) {
  static constexpr std::array units = std::to_array<Unit>({{"J", 1}, {"kJ", 1e3}, {"MJ", 1e6}});
  return scaled(energy.value(), units);
}

std::string to_exact_text(Bytes bytes) {
  return shortest(static_cast<double>(bytes.value()), fmt::format("{} B", bytes.value()), kBytes,
                  [&](const std::string& text) { return parse_bytes(text) == bytes; });
}
std::string to_exact_text(Seconds time) {
  return shortest(time.count(), fmt::format("{} s", time.count()), kTimes,
                  [&](const std::string& text) { return parse_seconds(text) == time; });
}
std::string to_exact_text(BytesPerSecond rate) {
  return shortest(rate.value(), fmt::format("{} B/s", rate.value()), kByteRates,
                  [&](const std::string& text) { return parse_bytes_per_second(text) == rate; });
}
std::string to_exact_text(FlopsPerSecond rate) {
  return shortest(rate.value(), fmt::format("{} FLOP/s", rate.value()), kFlopRates,
                  [&](const std::string& text) { return parse_flops_per_second(text) == rate; });
}
std::string to_exact_text(Watts power) {
  return shortest(power.value(), fmt::format("{} W", power.value()), kPowers,
                  [&](const std::string& text) { return parse_watts(text) == power; });
}

}  // namespace sim
