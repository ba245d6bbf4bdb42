#include "sim/recipe/block_pattern.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

int last_of_many(BlockOfMany one) { return (one.block + 1) % one.every == 0 ? 1 : 0; }
std::vector<int> pattern(const std::string& text, std::int64_t blocks, std::string* wrong = nullptr) {
  Draft draft;
  draft.said = {{"freq", text}};
  const std::vector<int> found = pattern_of(draft, "freq", blocks, last_of_many);
  if (wrong != nullptr) *wrong = testing::text_of(draft.wrong);
  return found;
}

TEST(BlockPattern, ListsSumsMultiplesAndNumbers) {
  EXPECT_EQ(pattern("[0,1]*2", 4), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(pattern("([0]*2+[1]*1)", 3), (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(pattern("2", 4), (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(pattern_text({0, 0, 1}), "([0]*2+[1]*1)");
}

TEST(BlockPattern, AnotherLengthIsTold) {
  std::string wrong;
  EXPECT_EQ(std::ssize(pattern("[1]*3", 4, &wrong)), 4);
  EXPECT_THAT(wrong, ::testing::HasSubstr("3 numbers for 4 blocks"));
}

TEST(BlockPattern, WhatIsNeitherIsTold) {
  for (const char* const text : {"abc", "-1", "0", "3.5", "99999999999999999999", "[1,2,0,1]", "(([1]*3+[0]*1)*1", "[1,0"}) {
    std::string wrong;
    pattern(text, 4, &wrong);
    EXPECT_THAT(wrong, ::testing::HasSubstr("neither a list of 0 and 1")) << text;
  }
  EXPECT_EQ(pattern("([1] * 3 + [0] * 1)", 4), (std::vector<int>{1, 1, 1, 0}));
  std::string wrong;
  pattern("4", 1'000'000'000, &wrong);
  EXPECT_THAT(wrong, ::testing::HasSubstr("numbers for 1000000000 blocks"));
}

}  // namespace
}  // namespace sim
