#include "gui/models/context_text.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(ContextText, AModelInOneLine) {
  const QString text = modelText(sim::load_model_config("profiles/models/gpt2-xl.json"), 1024);
  EXPECT_EQ(text,
            "1.56 B parameters · 48 layers · width 1600 · 25 heads · feed-forward 6400 · vocabulary 50257 · 10.3 GFLOP to train a token")
      << text.toStdString();
}

TEST(ContextText, SaysWhatAPlanIsOf) {
  sim::ParallelPlan plan = test::examplePlan();
  const QString text = contextText("tiny", plan, sim::Bytes(sim::Bytes(70).value() << 30));
  EXPECT_TRUE(text.startsWith("tiny · ")) << text.toStdString();
  for (const char* part : {"4 × a100-80gb-sxm", "8 × 64 tokens", "bf16", "70.0 GiB a device"})
    EXPECT_TRUE(text.contains(part)) << text.toStdString();
  EXPECT_FALSE(contextText("tiny", plan, {}).contains("70.0 GiB"));
}

}  // namespace
}  // namespace gui
