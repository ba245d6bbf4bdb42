// Names and round trips; that transformers' own arithmetic gives the same loss is seen by tests/reference/hugging_face_reference.py.
#include "executor/training/hugging_face.h"

#include <ATen/ops/ones.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "executor/training/checkpoint.h"
#include "executor/training/hugging_face_source.h"
#include "sim/units/input_error.h"
#include "tests/executor/training/tiny_families.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(HuggingFace, FamiliesWithOtherWeightsAreRefused) {
  sim::ParallelPlan plan = tiny_mixtral_plan();
  Training training(plan);
  plan.model.model_type = "falcon";
  plan.model.position = sim::Position::Alibi;
  EXPECT_THAT([&] { load_hugging_face(training.parameters, sim::make_model_graph(plan), "nowhere"); },
              testing::ThrowsMessage<sim::InputError>(testing::HasSubstr("alibi")));
  plan.model.model_type = "mixtral";
  plan.model.experts->shared_ffn = 8;
  EXPECT_THAT([&] { load_hugging_face(training.parameters, sim::make_model_graph(plan), "nowhere"); },
              testing::ThrowsMessage<sim::InputError>(testing::HasSubstr("shared experts")));
}

// As a plan file has it: what config.json says of its family, too.
sim::ParallelPlan as_read(sim::ParallelPlan plan) {
  const ScratchFolder folder;
  save_model_config(plan.model, folder.file("config.json"));
  plan.model = sim::load_model_config(folder.file("config.json"));
  return plan;
}

void expect_round_trip(const sim::ParallelPlan& made_up) {
  const sim::ParallelPlan plan = as_read(made_up);
  Training trained(plan), read(plan);
  trained.step(0);
  FaultPoints faults;
  Checkpoints(trained.folder.file("checkpoints"), plan, trained.communicators, faults)
      .save(trained.parameters, {.steps = {1}, .loss_scale = {}});
  export_hugging_face(trained.folder.file("checkpoints"), trained.folder.file("model"));
  load_hugging_face(read.parameters, read.model, trained.folder.file("model"));
  for (const auto& layer : trained.model.layers)
    for (const auto& parameter : layer.parameters)
      for (const std::string& name : hugging_face_source(plan.model, parameter).names)
        EXPECT_TRUE(SafetensorsFile(trained.folder.file("model/model.safetensors")).has(name)) << name;
  EXPECT_TRUE(at::equal(read.weights(), trained.weights()));
}

TEST(HuggingFace, WhatIsWrittenIsReadBack) {
  expect_round_trip(tiny_plan());
  expect_round_trip(tiny_llama_plan());
  for (const std::int64_t q_lora : {0, 6})
    expect_round_trip(tiny_latent_plan({.q_lora = q_lora, .kv_lora = 5, .qk_nope = 4, .qk_rope = 2, .v_dim = 4}));
  expect_round_trip(tiny_mixtral_plan());
}

TEST(HuggingFace, EveryMissingTensorIsNamed) {
  const ScratchFolder folder;
  write_safetensors(folder.file("model.safetensors"), std::vector<NamedTensor>{{.name = "wte.weight", .values = at::ones({12, 16})}});
  Training training(tiny_plan());
  EXPECT_THAT([&] { load_hugging_face(training.parameters, training.model, folder.file("model.safetensors")); },
              testing::ThrowsMessage<sim::InputError>(
                  testing::AllOf(testing::HasSubstr("transformer.h.0.attn.c_attn.weight"),
                                 testing::HasSubstr("is 12 x 16 for embedding.tokens.weight, the model's config says 13 x 16"))));
}

// The weights of `made` as transformers saves them, in a folder with its config.json.
struct Made {
  explicit Made(const sim::ParallelPlan& plan) : training(plan) {
    FaultPoints faults;
    Checkpoints(training.folder.file("checkpoints"), training.plan, training.communicators, faults)
        .save(training.parameters, {.steps = {1}, .loss_scale = {}});
    export_hugging_face(training.folder.file("checkpoints"), folder());
  }
  std::string folder() { return training.folder.file("model"); }
  void rewrite(const std::function<void(std::vector<NamedTensor>&)>& change) {
    std::vector<NamedTensor> tensors;
    {
      const SafetensorsFile file(folder() + "/model.safetensors");
      for (const auto& [name, entry] : file.entries()) tensors.push_back({.name = name, .values = file.tensor(name).clone()});
    }
    change(tensors);
    write_safetensors(folder() + "/model.safetensors", tensors);
  }
  Training training;
};

std::string refusal_of(sim::ParallelPlan plan, const std::string& folder) {
  Training training(std::move(plan));
  try {
    load_hugging_face(training.parameters, training.model, folder);
    return "";
  } catch (const sim::InputError& error) {
    return error.what();
  }
}

TEST(HuggingFace, WeightsOfAnotherFunctionAreRefusedByName) {
  Made made(tiny_llama_plan());
  sim::ParallelPlan other = tiny_llama_plan();
  other.model.rope_theta = 500'000;
  EXPECT_THAT(refusal_of(other, made.folder()),
              testing::AllOf(testing::HasSubstr("config.json: rope_theta: the weights were made with 10000"),
                             testing::HasSubstr("plan with the config.json of the weights")));
  other = tiny_llama_plan();
  other.model.rope_scaling = {.kind = sim::RopeScalingKind::Linear, .factor = 2};
  EXPECT_THAT(refusal_of(other, made.folder()), testing::HasSubstr("rope_scaling: the weights were made with not there"));
  EXPECT_EQ(refusal_of(tiny_llama_plan(), made.folder()), "");
}

TEST(HuggingFace, EveryTensorIsAccountedFor) {
  Made made(tiny_llama_plan());
  made.rewrite([](auto& tensors) { tensors.push_back({.name = "model.layers.0.self_attn.q_proj.bias", .values = at::ones({16})}); });
  EXPECT_THAT(refusal_of(tiny_llama_plan(), made.folder()),
              testing::HasSubstr("model.layers.0.self_attn.q_proj.bias: is no weight of the plan's network"));
  std::filesystem::remove(made.folder() + "/config.json");  // by names and shapes alone
  EXPECT_THAT(refusal_of(tiny_llama_plan(), made.folder()), testing::HasSubstr("is no weight of the plan's network"));
}

TEST(HuggingFace, WhatIsComputedIsNoWeight) {
  Made made(tiny_plan());
  made.rewrite([](auto& tensors) { tensors.push_back({.name = "transformer.h.0.attn.bias", .values = at::ones({4, 4})}); });
  EXPECT_EQ(refusal_of(tiny_plan(), made.folder()), "");
}

TEST(HuggingFace, ATiedHeadMayBeWrittenOutIfItIsTheEmbedding) {
  Made made(tiny_plan());
  made.rewrite([](auto& tensors) {
    const auto embedding = std::ranges::find(tensors, std::string("transformer.wte.weight"), &NamedTensor::name);
    tensors.push_back({.name = "lm_head.weight", .values = embedding->values.clone()});
  });
  EXPECT_EQ(refusal_of(tiny_plan(), made.folder()), "");
  made.rewrite([](auto& tensors) { std::ranges::find(tensors, std::string("lm_head.weight"), &NamedTensor::name)->values.add_(1); });
  EXPECT_THAT(refusal_of(tiny_plan(), made.folder()), testing::HasSubstr("differs from transformer.wte.weight"));
}

}  // namespace
}  // namespace executor
