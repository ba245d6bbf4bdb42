#include <gmock/gmock.h>

#include "sim/estimate/software_stack.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

TEST(SoftwareStack, TheNewestThatIsNotNewerThanTheRun) {
  const SoftwareCatalog catalog = load_software_catalog();
  EXPECT_EQ(catalog.find({"megatron-lm", 2020}).name, "megatron-lm-2020");
  EXPECT_EQ(catalog.find({"megatron-lm", 2023}).name, "megatron-lm-2022");
}

TEST(SoftwareStack, UnknownOnesArePlainAndUncertain) {
  const SoftwareCatalog catalog = load_software_catalog();
  EXPECT_EQ(catalog.find({"in-house", 2024}).name, "plain");
  EXPECT_GT(catalog.find({"", 0}).interval, catalog.named("megatron-core").interval);
  EXPECT_THROW(catalog.named("nothing"), InputError);
}

TEST(SoftwareStack, LossOfAnEncoder) {
  const SoftwareCatalog catalog = load_software_catalog();
  EXPECT_LT(catalog.named("pytorch-ddp").tokens_with_loss(NetworkKind::Encoder), 0.2);
  EXPECT_EQ(catalog.named("pytorch-ddp").tokens_with_loss(NetworkKind::Decoder), 1);
  EXPECT_EQ(catalog.named("megatron-lm-2021").tokens_with_loss(NetworkKind::Encoder), 1);
}

}  // namespace
}  // namespace sim
