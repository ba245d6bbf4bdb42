#include "executor/model/documents.h"

#include <gtest/gtest.h>

namespace executor {
namespace {

TEST(Documents, HoldTheirRows) {
  const Documents documents({{.begin = 0, .count = 3}, {.begin = 3, .count = 1}, {.begin = 4, .count = 4}});
  EXPECT_FALSE(documents.none());
  EXPECT_EQ(documents.at(0), (DocumentRows{.begin = 0, .count = 3}));
  EXPECT_EQ(documents.at(2), (DocumentRows{.begin = 0, .count = 3}));
  EXPECT_EQ(documents.at(3), (DocumentRows{.begin = 3, .count = 1}));
  EXPECT_EQ(documents.at(7), (DocumentRows{.begin = 4, .count = 4}));
  EXPECT_EQ(documents.all().back().end(), 8);
}

TEST(Documents, MayBeNone) {
  EXPECT_TRUE(Documents().none());
  EXPECT_TRUE(Documents().all().empty());
}

}  // namespace
}  // namespace executor
