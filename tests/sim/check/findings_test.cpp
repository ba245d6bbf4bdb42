#include "sim/check/findings.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(Findings, ManyAreCounted) {
  Findings findings;
  EXPECT_TRUE(findings.none());
  for (int at = 0; at < 100; ++at) findings.add("broken");
  EXPECT_FALSE(findings.none());
  const auto texts = std::move(findings).take();
  EXPECT_EQ(texts.size(), 41u);
  EXPECT_EQ(texts.back(), "and 60 more");
  EXPECT_TRUE(Findings().take().empty());
}

}  // namespace
}  // namespace sim
