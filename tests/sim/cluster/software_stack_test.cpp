#include <gmock/gmock.h>

#include "sim/cluster/software_stack.h"
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
  EXPECT_EQ(catalog.find({"of-nobody", 2024}).name, "plain");
  EXPECT_GT(catalog.find({"", 0}).interval, catalog.named("megatron-core").interval);
  EXPECT_THROW(catalog.named("nothing"), InputError);
}

TEST(SoftwareStack, KnowsWhatFlashMeansThere) {
  SoftwareStack stack;
  stack.flash = "cudnn";
  stack.fused_softmax = true;
  EXPECT_EQ(attention_kernel(stack, "flash"), AttentionKernel::Cudnn);
  EXPECT_EQ(attention_kernel(stack, "no_flash"), AttentionKernel::FusedSoftmax);
  EXPECT_EQ(attention_kernel(stack, "unfused"), AttentionKernel::Unfused);
  EXPECT_EQ(attention_kernel(stack, ""), AttentionKernel::Flash2);
}

}  // namespace
}  // namespace sim
