#include "sim/units/unit_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace sim {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array kBytes = std::to_array<Unit>({{"B", 1}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12},
                                                   {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}});
constexpr std::array kByteRates = std::to_array<Unit>({{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12},
                                                       {"MiB/s", 1048576.0}, {"GiB/s", 1073741824.0}, {"Gb/s", 1e9 / 8}, {"Mb/s", 1e6 / 8}});
constexpr std::array kFlopRates = std::to_array<Unit>({{"FLOP/s", 1}, {"MFLOP/s", 1e6}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}});
constexpr std::array kTimes = std::to_array<Unit>({{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}});

// "<number> <unit>", the space optional; no sign of infinity or NaN.
std::optional<double> parse(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  for (const Unit& unit : units)
    if (unit.name == rest) {
      // Powers of ten below one are no exact doubles; their inverses are: "4.5 us" is the double nearest to 4.5e-6.
      const double value = unit.factor < 1 ? number / std::round(1 / unit.factor) : number * unit.factor;
      return std::isfinite(value) ? std::optional(value) : std::nullopt;
    }
  return std::nullopt;
}

template <class Result>
std::optional<Result> parsed(std::optional<double> number) {
  if (!number) return std::nullopt;
  return Result(*number);
}

std::string scaled(double value, std::span<const Unit> units) {  // units from small to large
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
  if (error == std::errc{} && std::string_view(end, static_cast<std::size_t>(text.data() + text.size() - end)) == " B") return Bytes(whole);
  const std::optional<double> number = parse(text, kBytes);
  if (!number || std::abs(*number) > 9e18) return std::nullopt;
  return Bytes(std::llround(*number));
}
std::optional<BytesPerSecond> parse_bytes_per_second(std::string_view text) { return parsed<BytesPerSecond>(parse(text, kByteRates)); }
std::optional<FlopsPerSecond> parse_flops_per_second(std::string_view text) { return parsed<FlopsPerSecond>(parse(text, kFlopRates)); }
std::optional<Seconds> parse_seconds(std::string_view text) { return parsed<Seconds>(parse(text, kTimes)); }

std::string to_text(Bytes bytes) {
  static constexpr std::array units = std::to_array<Unit>({{"B", 1}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0}});
  return scaled(static_cast<double>(bytes.value()), units);
}
std::string to_text(Seconds time) {
  static constexpr std::array units = std::to_array<Unit>({{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}});
  return scaled(time.count(), units);
}
std::string to_text(BytesPerSecond rate) {
  static constexpr std::array units = std::to_array<Unit>({{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}});
  return scaled(rate.value(), units);
}
std::string to_text(FlopsPerSecond rate) { return scaled(rate.value(), kFlopRates); }

std::string to_exact_text(Bytes bytes) { return fmt::format("{} B", bytes.value()); }
std::string to_exact_text(Seconds time) { return fmt::format("{} s", time.count()); }
std::string to_exact_text(BytesPerSecond rate) { return fmt::format("{} B/s", rate.value()); }
std::string to_exact_text(FlopsPerSecond rate) { return fmt::format("{} FLOP/s", rate.value()); }

}  // namespace sim
