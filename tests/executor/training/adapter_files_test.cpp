// Names, round trips, refusals; that PEFT reads the same function is seen by tests/reference/peft_test.py.
#include "executor/training/adapter_files.h"

#include "executor/training/checkpoint.h"
#include "executor/training/hugging_face.h"
#include "sim/units/input_error.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

sim::ParallelPlan plan_with(const std::string& adapters) {
  std::vector<sim::Violation> wrong;
  sim::ParallelPlan plan = tiny_plan();
  plan.model.adapters = sim::parse_adapters(adapters, wrong);
  return plan;
}

void save(Training& training, const sim::ParallelPlan& plan) {
  FaultPoints faults;
  Checkpoints(training.folder.file("checkpoints"), plan, training.communicators, faults)
      .save(training.parameters, {.steps = {1}, .loss_scale = {}});
}

TEST(AdapterFiles, WhatIsWrittenIsReadBack) {
  const sim::ParallelPlan plan = plan_with("rank 2 alpha 6 on qkv,down");
  sim::ParallelPlan whole = plan;
  whole.model.adapters.reset();
  Training base(whole), trained(plan), read(plan);
  save(base, whole);
  export_hugging_face(base.folder.file("checkpoints"), base.folder.file("model"));
  load_hugging_face(trained.parameters, trained.model, base.folder.file("model"));
  keep_base(trained.folder.file(""), base.folder.file("model"));
  trained.step(0);
  trained.step(1);
  save(trained, plan);
  export_hugging_face(trained.folder.file("checkpoints"), trained.folder.file("adapters"));
  const AdapterConfig config = load_adapter_config(trained.folder.file("adapters/adapter_config.json"));
  EXPECT_THAT(config.modules, ElementsAre("c_attn", "mlp.c_proj")) << "attention has a c_proj, too";
  EXPECT_EQ(config.alpha, 6);
  EXPECT_TRUE(config.transposed);
  load_hugging_face(read.parameters, read.model, trained.folder.file("adapters"));
  EXPECT_TRUE(at::equal(read.weights(), trained.weights()));
  const SafetensorsFile file(trained.folder.file("adapters/adapter_model.safetensors"));
  EXPECT_EQ(file.entries().size(), 2u * 2u * 2u) << "A and B of two products of two blocks, and nothing else";
  EXPECT_TRUE(file.has("base_model.model.transformer.h.1.attn.c_attn.lora_A.weight"));
}

TEST(AdapterFiles, PartsOfOneModuleAreRefused) {
  const sim::ParallelPlan plan = plan_with("rank 2 on q,v");
  Training training(plan);
  save(training, plan);
  EXPECT_THAT([&] { export_hugging_face(training.folder.file("checkpoints"), training.folder.file("adapters")); },
              testing::ThrowsMessage<sim::InputError>(HasSubstr("adapt the product as one")));
}

}  // namespace
}  // namespace executor
