#include "cli/learned_text.h"

#include <gmock/gmock.h>

namespace cli {
namespace {

TEST(LearnedText, SaysWhatWasIdentifiableAndForWhichPlans) {
  sim::Learned learned{.cluster = {}, .constants = {}, .steps = {}};
  learned.cluster.software.learned_forms = "data tensor";
  learned.steps = {{"plan.json", sim::Seconds(2), sim::Seconds(1), sim::Seconds(1.9)}};
  learned.constants = {{"pace", "everything", 1, 1.9, "", 0.8}, {"host_per_kernel", "host", 6e-6, 6e-6, "us", 0.0}};
  learned.interval = 0.05;
  const std::string text = learned_text(learned);
  EXPECT_THAT(text, testing::HasSubstr("-50.0 %"));
  EXPECT_THAT(text, testing::HasSubstr("not identifiable"));
  EXPECT_THAT(text, testing::HasSubstr("6.0 us"));
  EXPECT_THAT(text, testing::HasSubstr("within 5 %"));
  EXPECT_THAT(text, testing::HasSubstr("data tensor"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("believed")));
}

TEST(LearnedText, NamesWhatItHardlyBelieved) {
  sim::Learned learned{.cluster = {}, .constants = {}, .steps = {}};
  learned.interval = 0.2;
  learned.steps = {{"a.json", sim::Seconds(2), sim::Seconds(1), sim::Seconds(1.9)},
                   {"b.json", sim::Seconds(9), sim::Seconds(1), sim::Seconds(1.1)}};
  const std::string text = learned_text(learned);
  EXPECT_THAT(text, testing::HasSubstr("b.json was hardly believed: 9.00 s measured, 1.10 s predicted even now"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("a.json was")));
}

}  // namespace
}  // namespace cli
