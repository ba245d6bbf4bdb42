// Quantities as people and files write them: "80 GiB", "450 GB/s", "989 TFLOP/s", "4.5 us".
// Decimal and binary prefixes are both read; a number without a unit is refused (nullopt).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace sim {

std::optional<Bytes> parse_bytes(std::string_view text);                      // B, kB, MB, GB, TB, KiB, MiB, GiB, TiB
std::optional<BytesPerSecond> parse_bytes_per_second(std::string_view text);  // the same with /s; also Gb/s (bits)
std::optional<FlopsPerSecond> parse_flops_per_second(std::string_view text);  // FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s
std::optional<Watts> parse_watts(std::string_view text);                      // W, kW
std::optional<Seconds> parse_seconds(std::string_view text);                  // s, ms, us, ns, ps
std::optional<Seconds> parse_duration(std::string_view text);                 // min, h, d, y (of 365 days), and the same

// For people: three significant digits ("84.2 GiB", "1.27 ms").
std::string to_text(Bytes bytes);
std::string to_text(Seconds time);
std::string duration_text(Seconds time);  // "3.2 h", "41 days"; below a minute as to_text
std::string to_text(BytesPerSecond rate);
std::string to_text(FlopsPerSecond rate);
std::string to_text(Joules energy);  // up to MJ
std::string percent(double share);   // "8.3 %"

// For files: reads back to the same value, in the unit that makes it shortest ("80 GiB", "4.5 us").
std::string to_exact_text(Bytes bytes);
std::string to_exact_text(Seconds time);
std::string to_exact_text(BytesPerSecond rate);
std::string to_exact_text(FlopsPerSecond rate);
std::string to_exact_text(Watts power);

}  // namespace sim
