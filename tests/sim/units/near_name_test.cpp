#include "sim/units/near_name.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kParts = {"a100-80gb-sxm", "h100-80gb-pcie", "h100-80gb-sxm"};

TEST(NearName, NamesThatItBegins) { EXPECT_THAT(near_names("h100", kParts), ElementsAre("h100-80gb-pcie", "h100-80gb-sxm")); }

TEST(NearName, FewestEdits) {
  EXPECT_THAT(near_names("a10-80gb-smx", kParts), ElementsAre("a100-80gb-sxm"));
  EXPECT_THAT(near_names("tensr", std::vector<std::string>{"data", "tensor"}), ElementsAre("tensor"));
}

TEST(NearName, AWordOfTheName) {
  EXPECT_THAT(near_names("--batch", std::vector<std::string>{"--sequence", "--global-batch"}), ElementsAre("--global-batch"));
  EXPECT_THAT(near_names("--batch", std::vector<std::string>{"--match", "--global-batch", "--micro_batch_size"}),
              ElementsAre("--global-batch", "--micro_batch_size"));
  EXPECT_THAT(near_names("--gb", std::vector<std::string>{"--device-gb"}), IsEmpty());
}

TEST(NearName, WordsOfOthersForm) {
  const std::vector<std::string> parts = {"a10-24gb",      "a100-40gb-sxm",   "a100-80gb-pcie", "a100-80gb-sxm",
                                          "h100-80gb-sxm", "h100-96gb-hbm2e", "rtx-4090-24gb"};
  EXPECT_THAT(near_names("rtx4090", parts), ElementsAre("rtx-4090-24gb"));
  EXPECT_THAT(near_names("RTX 4090", parts), ElementsAre("rtx-4090-24gb"));
  EXPECT_THAT(near_names("h100-sxm", parts), ElementsAre("h100-80gb-sxm"));
  EXPECT_THAT(near_names("A100-SXM4-80GB", parts), ElementsAre("a100-80gb-sxm"));
  EXPECT_THAT(near_names("NVIDIA H100 80GB HBM3", parts), ElementsAre("h100-80gb-sxm"));
  EXPECT_THAT(near_names("a1000-80", parts), IsEmpty()) << "digits behind digits are another number";
  EXPECT_THAT(near_names("--globalbatch", std::vector<std::string>{"--global-batch"}), ElementsAre("--global-batch"));
}

TEST(NearName, NothingIsNear) {
  EXPECT_THAT(near_names("nope", kParts), IsEmpty());
  EXPECT_THAT(near_names("", kParts), IsEmpty());
  EXPECT_THAT(near_names(std::string(200, 'h'), kParts), IsEmpty());
  EXPECT_THAT(near_names("--mtbf", std::vector<std::string>{"--top"}), IsEmpty());  // their dashes are no likeness
  EXPECT_THAT(near_names("data", {}), IsEmpty());
}

TEST(NearName, Remedies) {
  EXPECT_EQ(near_name_remedy("h100", kParts, "choose one"), "did you mean h100-80gb-pcie or h100-80gb-sxm?");
  EXPECT_EQ(near_name_remedy("a100", kParts, "choose one"), "did you mean a100-80gb-sxm?");
  EXPECT_EQ(near_name_remedy("nope", kParts, "choose one"), "choose one");
}

}  // namespace
}  // namespace sim
