// Tiny plans of families whose weights have names of Hugging Face's.
#pragma once

#include "tests/executor/training/tiny_training.h"

namespace executor {

inline sim::ParallelPlan tiny_llama_plan() {
  sim::ParallelPlan plan = tiny_plan();
  plan.model.model_type = "llama";
  plan.model.norm = sim::Norm::RmsNorm;
  plan.model.position = sim::Position::Rotary;
  plan.model.activation = sim::Activation::Silu;
  plan.model.gated_mlp = true;
  plan.model.attention_bias = plan.model.projection_bias = plan.model.mlp_bias = plan.model.tied_embeddings = false;
  return plan;
}

inline sim::ParallelPlan tiny_mixtral_plan() {
  sim::ParallelPlan plan = tiny_llama_plan();
  plan.model.model_type = "mixtral";
  plan.model.experts = sim::ExpertForm{.experts = 2, .topk = 1, .expert_ffn = plan.model.ffn, .renormalised = true};
  return plan;
}

inline sim::ParallelPlan tiny_latent_plan(sim::AttentionForm form) {
  sim::ParallelPlan plan = tiny_llama_plan();
  plan.model.model_type = "deepseek_v3";
  plan.model.attention = form;
  plan.model.attention.kind = sim::AttentionKind::Latent;
  return plan;
}

}  // namespace executor
