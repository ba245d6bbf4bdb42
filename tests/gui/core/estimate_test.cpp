#include "gui/core/estimate.h"

#include <gmock/gmock.h>

#include <fstream>

namespace gui {
namespace {

PlanQuestion onSixteen() {
  return {.model = "profiles/models/gpt2-xl.json", .cluster = "a100-80gb-sxm", .devices = 16, .global_batch = 64, .sequence = 1024};
}

std::string encoder() {
  const std::string path = testing::TempDir() + "encoder.json";
  std::ofstream(path) << R"({"model_type": "bert", "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024,
                             "vocab_size": 1000, "max_position_embeddings": 512, "hidden_act": "gelu"})";
  return path;
}

TEST(Estimate, RanksLayoutsWithTheirIntervals) {
  const SharedEstimate estimate = estimateOf(onSixteen());
  const std::vector<planner::EstimatedLayout>& ranked = estimate->result.ranked;
  ASSERT_GT(ranked.size(), 5u);
  for (const planner::EstimatedLayout& layout : ranked) EXPECT_TRUE(layout.step.low < layout.step.time && layout.step.time < layout.step.high);
  EXPECT_EQ(estimate->request.format, sim::NumberFormat::Bf16);
}

TEST(Estimate, OnTheFrontMemoryFallsAsTimeGrows) {
  const SharedEstimate estimate = estimateOf(onSixteen());
  double least = 1e300;
  for (std::size_t at = 0; at < estimate->on_front.size(); ++at) {
    const double memory = estimate->result.ranked[at].memory.total_gib;
    EXPECT_EQ(estimate->on_front[at], memory < least);
    least = std::min(least, memory);
  }
}

TEST(Estimate, AMemoryLimitAndAPrecisionHold) {
  PlanQuestion question = onSixteen();
  question.memory_limit = "20 GiB";
  for (const planner::EstimatedLayout& layout : estimateOf(question)->result.ranked) EXPECT_LE(layout.memory.total_gib, 20);
  const sim::Seconds plain = estimateOf(onSixteen())->result.ranked.front().step.time;
  question = onSixteen();
  question.precision = "fp32";
  EXPECT_GT(estimateOf(question)->result.ranked.front().step.time, plain * 2);
  question.precision = "int3";
  EXPECT_THROW(estimateOf(question), sim::InputError);
}

TEST(Estimate, AnEncoderIsAModelThoughItCannotBeSimulated) {
  EXPECT_THROW(sim::load_model_config(encoder()), sim::InputError);
  EXPECT_NO_THROW(requireModel(encoder()));
  EXPECT_NO_THROW(requireModel("profiles/models/gpt2.json"));
  EXPECT_THROW(requireModel("profiles/hardware/a100-80gb-sxm.json"), sim::InputError);
}

}  // namespace
}  // namespace gui
