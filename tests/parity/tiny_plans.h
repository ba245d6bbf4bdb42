// Small plans for the parity tests: a GPT-2, a Llama and a dense DeepSeek of a few thousand parameters, with every uneven case that their layouts allow.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace parity {

sim::ModelConfig tiny_gpt2();      // 4 blocks, tied embeddings, biases, dropout; a vocabulary of 61
sim::ModelConfig tiny_llama();     // 4 blocks, 4 heads on 2 key/value heads, untied; a vocabulary of 37
sim::ModelConfig tiny_deepseek();  // 4 dense blocks of latent attention, keys wider than values; a vocabulary of 37
sim::ModelConfig tiny_mixtral();   // as the llama, its last 3 blocks of 4 experts, two a token, and a shared one
// An encoder of 2 blocks and a decoder of 1 layer, tied embeddings, biases; a vocabulary of 37. Norms behind sums, and then in front of
// segments, with 5 tokens of the source.
sim::ModelConfig tiny_bart();
sim::ModelConfig tiny_mbart();
sim::ModelConfig tiny_t5();                // likewise, with biases by distance, RMS norms, a gate and nothing else beside its products
sim::ModelConfig tiny_umt5();              // with a table of them in each block
sim::ModelConfig tiny_small_blenderbot();  // as the BART, its target's positions behind their norm
sim::ModelConfig tiny_bert();              // masked language modelling, of types of tokens and a transform in front of the head
// 8 classes of 16 x 16 pixels: residual blocks of two convolutions, one of them with a projection; likewise with groups, as regnet x has them.
sim::ModelConfig tiny_resnet();
sim::ModelConfig tiny_regnet();

// Global batch 8 (samples of 12 tokens), microbatch 1, one rank a device, fp32; one stage cut evenly.
sim::ParallelPlan tiny_plan(const sim::ModelConfig& model, sim::DeviceMesh mesh);
sim::ParallelPlan with_schedule(sim::ParallelPlan plan, const std::string& schedule, std::int32_t chunks);
sim::ParallelPlan with_zero(sim::ParallelPlan plan, std::int32_t stage);
sim::ParallelPlan in_slices(sim::ParallelPlan plan, std::int32_t stage);  // no owners of whole tensors
sim::ParallelPlan by_owner(sim::ParallelPlan plan, std::int32_t stage, sim::WeightSync sync = sim::WeightSync::AllGather);
// Of what is not scaled; scaled products stay.
sim::ParallelPlan with_precision(sim::ParallelPlan plan, sim::Precision precision);
sim::ParallelPlan with_adapters(sim::ParallelPlan plan, const std::string& text = "rank 3 alpha 5 on q,v,o,up,down");
// Rows of documents, which token 0 ends; nothing is dropped.
sim::ParallelPlan with_documents(sim::ParallelPlan plan);
// The same training on one rank: what the plan must agree with. The microbatch is kept: other shapes have other bits.
sim::ParallelPlan on_one_rank(sim::ParallelPlan plan);

}  // namespace parity
