#include "sim/units/unit_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace sim {
namespace {

TEST(UnitText, ReadsDecimalAndBinaryPrefixes) {
  EXPECT_EQ(parse_bytes("80 GiB"), Bytes(80LL << 30));
  EXPECT_EQ(parse_bytes("80GB"), Bytes(80'000'000'000));
  EXPECT_EQ(parse_bytes("1.5 KiB"), Bytes(1536));
  EXPECT_EQ(parse_bytes_per_second("450 GB/s"), BytesPerSecond(450e9));
  EXPECT_EQ(parse_bytes_per_second("200 Gb/s"), BytesPerSecond(25e9));
  EXPECT_EQ(parse_flops_per_second("989.4 TFLOP/s"), FlopsPerSecond(989.4e12));
  EXPECT_EQ(parse_seconds("2 ms"), Seconds(2e-3));
}

TEST(UnitText, SmallTimesAreTheNearestDoubles) {
  EXPECT_EQ(parse_seconds("4.5 us"), Seconds(4.5e-6));
  EXPECT_EQ(parse_seconds("0.93 us"), Seconds(0.93e-6));
  EXPECT_EQ(parse_seconds("7 ns"), Seconds(7e-9));
}

TEST(UnitText, RefusesWhatHasNoUnit) {
  for (const char* text :
       {"", "80", "GiB", "80 Gib", "80 GiB ", "80 GB/s", "nan GiB", "inf GiB", "1e400 B", "80 GiB GiB", "0x10 B", "1e19 B"})
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  EXPECT_EQ(parse_bytes_per_second("1e300 TB/s"), std::nullopt) << "beyond a double";
  EXPECT_EQ(parse_seconds("4.5"), std::nullopt);
  EXPECT_EQ(parse_flops_per_second("10 GB/s"), std::nullopt);
}

TEST(UnitText, PowerAndEnergyHaveTheirs) {
  EXPECT_EQ(parse_watts("700 W"), Watts(700));
  EXPECT_EQ(parse_watts("1.2kW"), Watts(1200));
  EXPECT_EQ(parse_watts("700"), std::nullopt);
  EXPECT_EQ(to_exact_text(Watts(145)), "145 W");
  EXPECT_EQ(to_text(Joules(12'500)), "12.5 kJ");
}

TEST(UnitText, IsShortForPeople) {
  EXPECT_EQ(to_text(Bytes(90'409'861'939)), "84.2 GiB");
  EXPECT_EQ(to_text(Bytes(0)), "0 B");
  EXPECT_EQ(to_text(Seconds(1.27e-3)), "1.27 ms");
  EXPECT_EQ(to_text(BytesPerSecond(450e9)), "450 GB/s");
  EXPECT_EQ(to_text(FlopsPerSecond(989.4e12)), "989 TFLOP/s");
}

TEST(UnitText, IsShortestForFiles) {
  EXPECT_EQ(to_exact_text(Bytes(80LL << 30)), "80 GiB");
  EXPECT_EQ(to_exact_text(Bytes(25'000'001)), "25000001 B");
  EXPECT_EQ(to_exact_text(Bytes(0)), "0 B");
  EXPECT_EQ(to_exact_text(Seconds(4.5e-6)), "4.5 us");
  EXPECT_EQ(to_exact_text(BytesPerSecond(2039e9)), "2039 GB/s");
  EXPECT_EQ(to_exact_text(FlopsPerSecond(19.5e12)), "19.5 TFLOP/s");
}

TEST(UnitText, FilesReadBackExactly) {
  for (const std::int64_t bytes :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-5}, (std::int64_t{1} << 53) + 1, INT64_MAX, std::int64_t{123456789012345678}})
    EXPECT_EQ(parse_bytes(to_exact_text(Bytes(bytes))), Bytes(bytes)) << bytes;
  double value = 1.0 / 3.0;
  for (int i = 0; i < 300; ++i, value *= (i % 2 == 0 ? 1.7e3 : 3.1e-4)) {
    EXPECT_EQ(parse_seconds(to_exact_text(Seconds(value))), Seconds(value));
    EXPECT_EQ(parse_bytes_per_second(to_exact_text(BytesPerSecond(value))), BytesPerSecond(value));
    EXPECT_EQ(parse_flops_per_second(to_exact_text(FlopsPerSecond(value))), FlopsPerSecond(value));
  }
}

TEST(UnitText, DaysOfYearsAreWholeNumbers) {
  EXPECT_EQ(duration_text(Seconds(41 * 86400.0)), "41 days");
  EXPECT_EQ(duration_text(Seconds(1120.4 * 86400.0)), "1120 days");
}

}  // namespace
}  // namespace sim
