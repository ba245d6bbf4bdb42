#include "tests/parity/tiny_plans.h"

#include <cmath>

#include "sim/model/map_families.h"

namespace parity {

sim::ModelConfig tiny_gpt2() {
  sim::ModelConfig config;
  config.model_type = "gpt2";
  config.layers = 4;
  config.hidden = 32;
  config.heads = config.kv_heads = 4;
  config.head_dim = 8;
  config.ffn = 64;
  config.vocabulary = 61;
  config.max_positions = 16;
  config.attention_bias = config.projection_bias = config.mlp_bias = true;
  config.tied_embeddings = true;
  config.embedding_dropout = config.residual_dropout = config.attention_dropout = 0.1;
  return config;
}

sim::ModelConfig tiny_llama() {
  sim::ModelConfig config;
  config.model_type = "llama";
  config.layers = 4;
  config.hidden = 24;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 6;
  config.ffn = 40;
  config.vocabulary = 37;
  config.max_positions = 16;
  config.norm = sim::Norm::RmsNorm;
  config.position = sim::Position::Rotary;
  config.activation = sim::Activation::Silu;
  config.gated_mlp = true;
  config.norm_epsilon = 1e-6;
  return config;
}

sim::ModelConfig tiny_deepseek() {
  sim::ModelConfig config = tiny_llama();
  config.model_type = "deepseek_v3";
  config.kv_heads = config.heads;
  config.attention = {.kind = sim::AttentionKind::Latent, .q_lora = 10, .kv_lora = 8, .qk_nope = 6, .qk_rope = 4, .v_dim = 8};
  config.head_dim = 9;
  return config;
}

sim::ModelConfig tiny_mixtral() {
  sim::ModelConfig config = tiny_llama();
  config.model_type = "mixtral";
  config.experts = sim::ExpertForm{.experts = 4,
                                   .shared_experts = 1,
                                   .topk = 2,
                                   .expert_ffn = 20,
                                   .shared_ffn = 12,
                                   .first_dense_layers = 1,
                                   .renormalised = true,
                                   .balance_loss = 0.01};
  return config;
}

sim::ModelConfig tiny_bart() {
  sim::ModelConfig config = tiny_gpt2();
  config.model_type = "bart";
  config.hidden = config.ffn = 24;
  config.head_dim = 6;
  config.vocabulary = 37;
  config.norm_place = sim::NormPlace::AfterSum;
  config.embedding_norm = true;
  config.final_norm = false;
  config.position_offset = 2;
  config.encoder = sim::EncoderForm{.layers = 2, .decoder_layers = 1};
  config.halves = {sim::BlockHalf::Both, sim::BlockHalf::Both, sim::BlockHalf::Mixer, sim::BlockHalf::Both};
  return config;
}

sim::ModelConfig tiny_mbart() {
  sim::ModelConfig config = tiny_bart();
  config.model_type = "mbart";
  config.norm_place = sim::NormPlace::Before;
  config.final_norm = config.encoder->final_norm = true;
  config.source_tokens = 5;
  return config;
}

sim::ModelConfig tiny_t5() {
  sim::ModelConfig config = tiny_mbart();
  config.model_type = "t5";
  config.norm = sim::Norm::RmsNorm;
  config.position = sim::Position::None;
  config.position_offset = 0;
  config.embedding_norm = config.attention_bias = config.projection_bias = config.mlp_bias = false;
  config.gated_mlp = true;
  config.score_scale = 1;
  config.embedding_dropout = config.residual_dropout = config.attention_dropout = 0;  // a file of this family says one number for all
  config.encoder->relative_buckets = 6;
  config.encoder->farthest = 5;
  return config;
}

sim::ModelConfig tiny_umt5() {
  sim::ModelConfig config = tiny_t5();
  config.model_type = "umt5";
  config.encoder->distances_of_each = true;
  return config;
}

sim::ModelConfig tiny_small_blenderbot() {
  sim::ModelConfig config = tiny_bart();
  config.model_type = "blenderbot-small";
  config.position_offset = 0;
  config.embedding_factor = std::sqrt(static_cast<double>(config.hidden));
  config.encoder->late_positions = true;
  return config;
}

sim::ModelConfig tiny_bert() {
  sim::ModelConfig config = tiny_gpt2();
  config.model_type = "bert";
  config.norm_place = sim::NormPlace::AfterSum;
  config.activation = sim::Activation::Gelu;
  config.bidirectional = config.embedding_norm = config.head_transform = config.head_bias = true;
  config.final_norm = false;
  config.token_types = 2;
  return config;
}

sim::ModelConfig tiny_resnet() {
  return sim::convolutional_model("resnet", {.image = 16, .stem = 8, .widths = {8, 12}, .depths = {1, 2}, .bottleneck = false}, 8);
}

sim::ModelConfig tiny_regnet() {
  return sim::convolutional_model("regnet",
                                  {.kind = sim::ConvolutionKind::Regular,
                                   .image = 16,
                                   .stem = 8,
                                   .widths = {8, 12},
                                   .depths = {1, 2},
                                   .width_per_group = 4,
                                   .early_stride = true},
                                  8);
}

sim::ParallelPlan tiny_plan(const sim::ModelConfig& model, sim::DeviceMesh mesh) {
  sim::ParallelPlan plan;
  plan.model = model;
  plan.mesh = mesh;
  plan.cluster.devices = mesh.ranks();
  plan.cluster.hardware.name = "test";
  plan.cluster.hardware.source = "made up";
  plan.cluster.hardware.date = "2026-01-01";
  plan.cluster.hardware.memory = sim::Bytes(std::int64_t{8} << 30);
  plan.cluster.hardware.memory_bandwidth = sim::BytesPerSecond(1e10);
  plan.cluster.hardware.kind = sim::DeviceKind::Cpu;
  plan.cluster.hardware.devices_per_node = mesh.ranks();
  plan.cluster.hardware.intra_node = {.type = "made up", .latency = sim::Seconds(1e-6), .bandwidth = sim::BytesPerSecond(1e9)};
  plan.cluster.hardware.peak.fill(sim::FlopsPerSecond(1e9));
  plan.cluster.hardware.overlaps_communication = false;
  plan.workload = {.sequence = 12, .global_batch = 8, .precision = sim::Precision::Fp32, .optimizer = sim::OptimizerKind::AdamW};
  plan.vocabulary_multiple = 4;
  plan.microbatch_size = 1;
  plan.schedule = "1f1b";
  plan.training.learning_rate = plan.training.minimum_learning_rate = 1e-2;
  plan.training.gradient_clip = 0.5;  // below the norm of these models: clipping acts
  plan.cut = sim::even_cut(model.layers, plan.pipeline_shape());
  if (!model.convolution) return plan;
  plan.workload.sequence = 1;
  plan.sync_batch_norm = true;
  plan.microbatch_size = 8 / mesh.data;
  return plan;
}

sim::ParallelPlan with_schedule(sim::ParallelPlan plan, const std::string& schedule, std::int32_t chunks) {
  plan.schedule = schedule;
  plan.chunks = chunks;
  plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

sim::ParallelPlan with_zero(sim::ParallelPlan plan, std::int32_t stage) {
  plan.zero_stage = stage;
  if (stage < 3) {  // all of them stay whole
    plan.persistence_threshold = 0;
    plan.kept_until = sim::KeptUntil::Backward;
    plan.reshard_after_backward = sim::ReshardAfterBackward::AsTheProgram;
  }
  return plan;
}

sim::ParallelPlan in_slices(sim::ParallelPlan plan, std::int32_t stage) {
  plan = with_zero(std::move(plan), stage);
  plan.state_shards = sim::StateShards::Slices;
  plan.gradient_sync = sim::GradientSync::Scatter;
  plan.weight_sync = sim::WeightSync::AllGather;
  return plan;
}

sim::ParallelPlan by_owner(sim::ParallelPlan plan, std::int32_t stage, sim::WeightSync sync) {
  plan = in_slices(std::move(plan), stage);
  plan.state_shards = sim::StateShards::Tensors;
  plan.weight_sync = sync;
  return plan;
}

sim::ParallelPlan with_precision(sim::ParallelPlan plan, sim::Precision precision) {
  const bool sums_in_fp32 = sim::is_sixteen_bit(precision) && plan.workload.precision.states(sim::Numbers::Gradients);
  sim::PrecisionPolicy policy = precision;
  if (const auto scales = plan.workload.precision.scales())
    policy = policy.with(*scales, plan.workload.precision.gathers_scaled()).with_scale_history(plan.workload.precision.scale_history());
  plan.workload.precision = policy;
  if (sums_in_fp32) plan.workload.precision = plan.workload.precision.with(sim::Numbers::Gradients, sim::Precision::Fp32);
  return plan;
}

sim::ParallelPlan with_adapters(sim::ParallelPlan plan, const std::string& text) {
  std::vector<sim::Violation> wrong;
  plan.model.adapters = sim::parse_adapters(text, wrong);
  return plan;
}

sim::ParallelPlan with_documents(sim::ParallelPlan plan) {
  std::vector<sim::Violation> wrong;
  plan.workload.samples = sim::parse_samples_policy("packed fixed 4 end 0", wrong);
  plan.model.embedding_dropout = plan.model.residual_dropout = plan.model.attention_dropout = 0;
  return plan;
}

sim::ParallelPlan on_one_rank(sim::ParallelPlan plan) {
  if (plan.sync_batch_norm) plan.microbatch_size *= plan.mesh.data;  // a batch norm's statistics are of that many
  plan.mesh = {};
  plan.cluster.devices = 1;
  plan = in_slices(std::move(plan), 0);
  plan.accumulation = sim::Accumulation::ReduceLast;
  plan.recompute = sim::Recompute::None;
  plan.recompute_scope = {};
  plan.offload_optimizer = plan.offload_parameters = plan.offload_activations = false;
  plan.passes = 1;
  plan.sequence_parallel = plan.expert_overlap = plan.delay_wgrad = false;
  plan.delay_head_wgrad = 0;
  plan.offload_modules = {};
  plan.offload_blocks = 0;
  const auto scales = plan.workload.precision.scales();
  if (!scales || scales == sim::ScaleRecipe::Delayed) plan.slices = 1;  // else each is a product of its own, as a microbatch is
  plan.context_by_document = false;
  plan.partition_size = plan.credit_size = {};
  plan.optimizer_in_backward = false;
  return with_schedule(std::move(plan), "1f1b", 1);
}

}  // namespace parity
