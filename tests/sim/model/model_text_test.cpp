#include "sim/model/model_text.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(ModelText, CountsAreAsModelsAreNamed) {
  EXPECT_EQ(count_text(9'999), "9999");
  EXPECT_EQ(count_text(858'880), "859 K");
  EXPECT_EQ(count_text(999'999), "1 M");
  EXPECT_EQ(count_text(124'439'808), "124 M");
  EXPECT_EQ(count_text(70'553'706'496), "70.6 B");
  EXPECT_EQ(count_text(1'040'000'000'000), "1.04 T");
}

TEST(ModelText, ANetworkIsItsFamilyAndSize) {
  EXPECT_EQ(family_and_size(load_model_config("gpt2")), "gpt2 (124 M)");
  EXPECT_EQ(family_and_size(load_model_config("llama-3-70b")), "llama (70.6 B)");
}

}  // namespace
}  // namespace sim
