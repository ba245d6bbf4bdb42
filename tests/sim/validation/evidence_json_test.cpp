#include <gmock/gmock.h>

#include "sim/plan/parallel_plan.h"
#include "sim/units/text_file.h"
#include "sim/validation/evidence.h"
#include "tests/sim/calibration/made_plans.h"

namespace sim {
namespace {

std::string plan_file() {
  const std::string path = ::testing::TempDir() + "/evidence-plan.json";
  save_plan(row_plan(2), path);
  return path;
}

Evidence read(const std::string& values) { return read_evidence(plan_file() + "=" + values).front(); }

TEST(Evidence, TimeRateAndMemory) {
  EXPECT_NEAR(read("7.42s").step->count(), 7.42, 1e-12);
  EXPECT_NEAR(read("7.42 s, 61.2 GiB").step->count(), 7.42, 1e-12);
  EXPECT_NEAR(static_cast<double>(read("7.42s,61.2GiB").memory->value()), 61.2 * (1 << 30), 1);
  EXPECT_NEAR(read("65536 tokens/s").step->count(), 2, 1e-9);
  EXPECT_NEAR(read("8192 tokens/s/device").step->count(), 2, 1e-9);
}

TEST(Evidence, WhatIsNoneIsNamed) {
  for (const char* values :
       {"7.42", "fast", "-1s", "0s", "", "tokens/s", "1 tokens/s/banana", "nan s", "1e-30 s", "1e300 tokens/s", "1e30 s"})
    EXPECT_THAT([&] { read(values); }, ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("evidence-plan.json"))) << values;
  EXPECT_THROW(read_evidence("nothing"), InputError);
}

TEST(Evidence, Tables) {
  const std::string plan = plan_file(), table = ::testing::TempDir() + "/evidence.csv";
  save_text_file("plan,step,memory\n" + plan + ",7.42 s,61.2 GiB\n\n" + plan + ", 65536 tokens/s\r\n", table);
  const std::vector<Evidence> evidence = read_evidence(table);
  ASSERT_EQ(evidence.size(), 2u);
  EXPECT_TRUE(evidence[0].memory);
  EXPECT_NEAR(evidence[1].step->count(), 2, 1e-9);
}

TEST(Evidence, Rows) {
  const std::string file = ::testing::TempDir() + "/evidence-rows.json";
  save_text_file(Json::array({valid_row()}).dump(), file);
  const std::vector<Evidence> evidence = read_evidence(file);
  ASSERT_EQ(evidence.size(), 1u);
  EXPECT_EQ(evidence[0].name, "mine/1");
  EXPECT_EQ(evidence[0].step, Seconds(2));
}

TEST(Evidence, ALogKeepsItsSpread) {
  const std::string log = ::testing::TempDir() + "/evidence.log";
  std::string text;
  for (const char* value : {"4000", "2100", "2000", "1900"}) text += std::string("| elapsed time per iteration (ms): ") + value + " |\n";
  save_text_file(text, log);
  const Evidence evidence = evidence_of_log(log, load_plan(plan_file()));
  EXPECT_NEAR(evidence.step->count(), 2, 1e-9);
  EXPECT_NEAR(evidence.spread, 1.2533 * 1.4826 * 0.05 / std::sqrt(3.0), 1e-6);
}

}  // namespace
}  // namespace sim
