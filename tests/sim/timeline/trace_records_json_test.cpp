// Flat records of a trace file (trace_records.h).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sim/timeline/trace_records.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

std::vector<std::string> told(const std::string& text) {
  std::vector<std::string> records;
  read_trace_records(text, "t", [&](const TracePlace& place, const TraceRecord& record) {
    std::string line = fmt::format("{}{}", place.list, place.position);
    for (const char* name : {"a", "b", "args.a", "args.b"})
      if (const auto found = record.find(name)) line += fmt::format(" {}={}", name, *found);
    records.push_back(line);
  });
  return records;
}

TEST(TraceRecords, KeepNumbersAsTheirDigits) {
  EXPECT_EQ(told(R"({"l":[{"a":1.50,"b":-3},{"a":12345678901234567890.125,"b":"x"},{"a":true,"b":null}]})"),
            (std::vector<std::string>{"l0 a=1.50 b=-3", "l1 a=12345678901234567890.125 b=x", "l2 a=true"}));
}

TEST(TraceRecords, TakeTheArgsAndNothingDeeper) {
  EXPECT_EQ(told(R"({"l":[{"a":1,"args":{"a":2,"deep":{"a":3,"args":{"b":4}},"b":5},"rest":{"b":6},"b":7}]})"),
            (std::vector<std::string>{"l0 a=1 b=7 args.a=2 args.b=5"}));
}

TEST(TraceRecords, TellTheHeaderAndTheLists) {
  EXPECT_EQ(told(R"({"a":1,"meshwright":{"a":2},"x":{"a":3},"l":[{"a":4}],"k":[1,[{"a":5}],{"a":6}]})"),
            (std::vector<std::string>{"meshwright0 a=2", "l0 a=4", "k0 a=6"}));
}

TEST(TraceRecords, SurviveDepth) {
  EXPECT_TRUE(told("{\"l\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}").empty());
  EXPECT_THROW(told(std::string(100'000, '{')), InputError);
}

}  // namespace
}  // namespace sim
