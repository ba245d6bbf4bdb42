// The table of names: where a configuration of Megatron-Core holds what an argument of Megatron-LM says.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "sim/recipe/accounting.h"
#include "sim/recipe/megatron_core.h"
#include "sim/recipe/megatron_network.h"
#include "sim/recipe/said_values.h"

namespace sim {
namespace {

// An argument without a row here is of the model, under the same name. "-": the program has no such field.
struct CoreName {
  std::string_view argument, bridge, nemo;
  Spelling spelling = Spelling::AsItIs;
};
constexpr CoreName kCoreNames[] = {
    {"num-experts", "model.num_moe_experts", "model.num_moe_experts"},
    {"group-query-attention", "-", "-"},
    {"moe-layer-freq", "model.moe_layer_freq", "model.moe_layer_freq", Spelling::List},
    {"window-size", "model.window_size", "model.window_size", Spelling::Pair},
    {"window-attn-skip-freq", "model.window_attn_skip_freq", "model.window_attn_skip_freq", Spelling::List},
    {"max-position-embeddings", "-", "-"},  // of the sequence: kOwn
    {"use-rotary-position-embeddings", "-", "-"},
    {"use-rope-scaling", "model.rope_scaling", "-", Spelling::Flag},
    {"rope-scaling-factor", "model.rope_scaling_factor", "-"},
    {"norm-epsilon", "model.layernorm_epsilon", "model.layernorm_epsilon"},
    {"apply-layernorm-1p", "model.layernorm_zero_centered_gamma", "model.layernorm_zero_centered_gamma", Spelling::Flag},
    {"swiglu", "-", "-"},
    {"linear-attention-freq", "model.linear_attention_freq", "model.linear_attention_freq", Spelling::List},
    {"quick-geglu", "-", "-"},
    {"disable-bias-linear", "model.add_bias_linear", "model.add_bias_linear", Spelling::Not},
    {"untie-embeddings-and-output-weights", "model.share_embeddings_and_output_weights", "model.share_embeddings_and_output_weights",
     Spelling::Not},
    {"seq-length", "dataset.seq_length", "data.seq_length"},
    {"micro-batch-size", "train.micro_batch_size", "data.micro_batch_size"},
    {"global-batch-size", "train.global_batch_size", "data.global_batch_size"},
    {"tensor-model-parallel-size", "model.tensor_model_parallel_size", "strategy.tensor_model_parallel_size"},
    {"sequence-parallel", "model.sequence_parallel", "strategy.sequence_parallel", Spelling::Flag},
    {"pipeline-model-parallel-size", "model.pipeline_model_parallel_size", "strategy.pipeline_model_parallel_size"},
    {"pipeline-model-parallel-layout", "model.pipeline_model_parallel_layout", "strategy.pipeline_model_parallel_layout"},
    {"num-virtual-stages-per-pipeline-rank", "model.virtual_pipeline_model_parallel_size", "strategy.virtual_pipeline_model_parallel_size"},
    {"microbatch-group-size-per-virtual-pipeline-stage", "model.microbatch_group_size_per_vp_stage",
     "strategy.microbatch_group_size_per_vp_stage"},
    {"decoder-first-pipeline-num-layers", "model.num_layers_in_first_pipeline_stage", "strategy.num_layers_in_first_pipeline_stage"},
    {"decoder-last-pipeline-num-layers", "model.num_layers_in_last_pipeline_stage", "strategy.num_layers_in_last_pipeline_stage"},
    {"account-for-embedding-in-pipeline-split", "model.account_for_embedding_in_pipeline_split",
     "strategy.account_for_embedding_in_pipeline_split"},
    {"account-for-loss-in-pipeline-split", "model.account_for_loss_in_pipeline_split", "strategy.account_for_loss_in_pipeline_split"},
    {"context-parallel-size", "model.context_parallel_size", "strategy.context_parallel_size"},
    {"expert-model-parallel-size", "model.expert_model_parallel_size", "strategy.expert_model_parallel_size"},
    {"expert-tensor-parallel-size", "model.expert_tensor_parallel_size", "strategy.expert_tensor_parallel_size"},
    {"use-distributed-optimizer", "ddp.use_distributed_optimizer", "ddp.use_distributed_optimizer", Spelling::Flag},
    {"use-megatron-fsdp", "ddp.use_megatron_fsdp", "ddp.use_megatron_fsdp", Spelling::Flag},
    {"use-sharp", "-", "strategy.use_sharp", Spelling::Flag},
    {"use-torch-fsdp2", "dist.use_torch_fsdp2", "-"},
    {"torch-fsdp2-no-reshard-after-forward", "-", "-"},
    {"data-parallel-sharding-strategy", "ddp.data_parallel_sharding_strategy", "ddp.data_parallel_sharding_strategy"},
    {"ckpt-format", "checkpoint.ckpt_format", "strategy.save_ckpt_format"},
    {"num-distributed-optimizer-instances", "ddp.num_distributed_optimizer_instances", "ddp.num_distributed_optimizer_instances"},
    {"overlap-grad-reduce", "ddp.overlap_grad_reduce", "ddp.overlap_grad_reduce", Spelling::Flag},
    {"overlap-param-gather", "ddp.overlap_param_gather", "ddp.overlap_param_gather", Spelling::Flag},
    {"ddp-bucket-size", "ddp.bucket_size", "ddp.bucket_size"},
    {"bf16", "mixed_precision.bf16", "-", Spelling::Flag},
    {"fp16", "mixed_precision.fp16", "-", Spelling::Flag},
    {"precision", "-", "-"},  // NeMo's is kOwn
    {"fp8-format", "mixed_precision.fp8", "plugin.fp8"},
    {"fp8-recipe", "mixed_precision.fp8_recipe", "plugin.fp8_recipe"},
    {"fp8-param-gather", "mixed_precision.fp8_param_gather", "plugin.fp8_param_gather", Spelling::Flag},
    {"first-last-layers-bf16", "mixed_precision.first_last_layers_bf16", "plugin.first_last_layers_bf16", Spelling::Flag},
    {"num-layers-at-start-in-bf16", "mixed_precision.num_layers_at_start_in_bf16", "plugin.num_layers_at_start_in_bf16"},
    {"num-layers-at-end-in-bf16", "mixed_precision.num_layers_at_end_in_bf16", "plugin.num_layers_at_end_in_bf16"},
    {"fp4-format", "mixed_precision.fp4", "plugin.fp4"},
    {"fp4-recipe", "mixed_precision.fp4_recipe", "plugin.fp4_recipe"},
    {"accumulate-allreduce-grads-in-fp32", "-", "-"},
    {"grad-reduce-in-bf16", "-", "-"},
    {"recompute-modules", "model.recompute_modules", "model.recompute_modules", Spelling::Words},
    {"offload-modules", "model.offload_modules", "model.offload_modules", Spelling::Words},
    {"cuda-graph-impl", "model.cuda_graph_impl", "-"},
    {"cuda-graph-scope", "model.cuda_graph_scope", "-", Spelling::Words},
    {"enable-cuda-graph", "model.enable_cuda_graph", "model.enable_cuda_graph", Spelling::Flag},
    {"full-iteration-cuda-graph", "-", "-"},
    {"te-rng-tracker", "rng.te_rng_tracker", "-", Spelling::Flag},
    {"no-check-for-nan-in-loss-and-grad", "-", "-"},
    {"optimizer-cpu-offload", "optimizer.optimizer_cpu_offload", "optim.optimizer_cpu_offload", Spelling::Flag},
    {"optimizer-offload-fraction", "optimizer.optimizer_offload_fraction", "optim.optimizer_offload_fraction"},
    {"use-precision-aware-optimizer", "optimizer.use_precision_aware_optimizer", "optim.use_precision_aware_optimizer", Spelling::Flag},
    {"optimizer", "optimizer.optimizer", "optim.optimizer"},
    {"lr", "optimizer.lr", "optim.lr"},
    {"min-lr", "optimizer.min_lr", "scheduler.min_lr"},
    {"lr-decay-style", "scheduler.lr_decay_style", "-"},
    {"lr-warmup-iters", "scheduler.lr_warmup_iters", "scheduler.warmup_steps"},
    {"lr-decay-iters", "scheduler.lr_decay_iters", "scheduler.max_steps"},
    {"weight-decay", "optimizer.weight_decay", "optim.weight_decay"},
    {"adam-beta1", "optimizer.adam_beta1", "optim.adam_beta1"},
    {"adam-beta2", "optimizer.adam_beta2", "optim.adam_beta2"},
    {"adam-eps", "optimizer.adam_eps", "optim.adam_eps"},
    {"sgd-momentum", "optimizer.sgd_momentum", "optim.sgd_momentum"},
    {"clip-grad", "optimizer.clip_grad", "optim.clip_grad"},
    {"initial-loss-scale", "mixed_precision.initial_loss_scale", "plugin.fp16_initial_loss_scale"},
    {"loss-scale-window", "mixed_precision.loss_scale_window", "plugin.fp16_loss_scale_window"},
    {"seed", "rng.seed", "-"},
    {"nnodes", "nnodes", "trainer.num_nodes"},
    {"nproc-per-node", "nproc-per-node", "trainer.devices"},
};
// Of the model, there or not.
constexpr std::string_view kModelFlags =
    "multi-latent-attention moe-shared-expert-gate moe-router-pre-softmax moe-router-enable-expert-bias moe-pad-expert-input-to-capacity "
    "moe-router-force-load-balancing dsa-indexer-use-sparse-loss moe-grouped-gemm overlap-moe-expert-parallel-comm delay-wgrad-compute "
    "defer-embedding-wgrad-compute tp-comm-overlap cross-entropy-loss-fusion fine-grained-activation-offloading "
    "qk-layernorm add-qkv-bias attention-output-gate";
// Read by Megatron-LM's table, and of its own past, of another program or of another class of networks: nothing of them stands in these configurations.
constexpr std::string_view kOfScripts =
    "num-layers-per-virtual-pipeline-stage ds-sequence-parallel-size zero-stage fp8-hybrid main-grads-dtype recompute-activations "
    "checkpoint-activations deepspeed-config reset-attention-mask reset-position-ids eod-mask-loss squared-relu "
    "hybrid-override-pattern hybrid-attention-ratio hybrid-mlp-ratio is-hybrid-model spec mamba-state-dim mamba-head-dim mamba-num-groups "
    "mamba-num-heads";

std::string underscored(std::string_view argument) {
  std::string name(argument);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string_view kept_text(std::string text) {
  static std::deque<std::string> texts;  // names of rows are views
  return texts.emplace_back(std::move(text));
}

bool has_quick_gate(const ParallelPlan& p) { return p.model.gated_mlp && p.model.gate_limit > 0; }
void of_the_network(const Value&, Draft&) {}  // core_network() takes it
std::string reduces_text(const ParallelPlan& p) {
  return is_sixteen_bit(p.workload.precision.compute()) && !reduces_in_fp32(p) ? "false" : "true";
}
Written written_reduction(const ParallelPlan& p) { return reduces_text(p); }
void read_reduction(const Value& v, Draft& d) { d.fp32_gradients = v.boolean(); }

Written nemo_precision(const ParallelPlan& p) {
  const Precision compute = p.workload.precision.compute();
  return compute == Precision::Bf16 ? "bf16-mixed" : compute == Precision::Fp16 ? "16-mixed" : "32";
}

// What one argument does not say, or several do.
constexpr Field kShared[] = {
    {"model.gated_linear_unit", "gated_linear_unit", [](const ParallelPlan& p) { return written_flag(p.model.gated_mlp); }, flag_said,
     false, "gated-linear-unit", Spelling::Flag},
    {"model.activation_func", "activation_func",
     [](const ParallelPlan& p) {
       return Written(!p.model.gated_mlp ? "F.gelu" : has_quick_gate(p) ? "quick_gelu" : "F.silu");
     },
     [](const Value& v, Draft&) {
       constexpr std::string_view kActivations = "silu gelu quick_gelu";
       if (!has_name(kActivations, leaf_of(v.text())))
         v.lost(fmt::format("is {}: the plan's has the same products", shown(v.text())), "mind a little time");
     },
     false, "activation-func"},
    {"model.seq_length", "", [](const ParallelPlan& p) { return written(p.workload.sequence); },
     [](const Value& v, Draft& d) {
       const std::int64_t tokens = v.count();
       if (!d.sequence) d.sequence = tokens;
     },
     false, "max-position-embeddings"},
};
constexpr Field kBridgeOwn[] = {
    {"mixed_precision.grad_reduce_in_fp32", "grad_reduce_in_fp32", written_reduction, read_reduction},
    {"ddp.grad_reduce_in_fp32", "", written_reduction, flag_said},  // the one above is obeyed, where there is one
    {"mixed_precision", "", nullptr, of_the_network},               // a name: core_settings() unfolds it
    {"peft.dim", "", nullptr, number_said, false, "lora-rank"},
    {"peft.alpha", "", nullptr, number_said, false, "lora-alpha"},
    {"peft.dropout", "", nullptr, number_said, false, "lora-dropout"},
    {"peft.target_modules", "", nullptr, of_the_network, false, "target-modules"},
};
constexpr Field kNemoOwn[] = {
    {"plugin.grad_reduce_in_fp32", "grad_reduce_in_fp32", written_reduction, read_reduction},
    {"ddp.grad_reduce_in_fp32", "", written_reduction, flag_said},
    {"plugin.precision", "precision", nemo_precision, nullptr, false, "precision"},
    {"optim.use_distributed_optimizer", "", [](const ParallelPlan& p) { return written_flag(p.zero_stage >= 1); }, flag_said, false, "",
     Spelling::Flag},
};
constexpr Field kBridgeOptimizer = {"optimizer.use_distributed_optimizer",
                                    "",
                                    [](const ParallelPlan& p) { return written_flag(p.zero_stage >= 1); },
                                    flag_said,
                                    false,
                                    "",
                                    Spelling::Flag};

const CoreName* core_name_of(std::string_view argument) {
  const auto row = std::ranges::find(kCoreNames, argument, &CoreName::argument);
  return row == std::end(kCoreNames) ? nullptr : &*row;
}

Field renamed(const Field& argument, std::string key, Spelling spelling) {
  std::string aliases = leaf_of(key);
  for (const std::string& other : words_of(argument.aliases)) aliases += " " + underscored(other);
  if (aliases.find(underscored(argument.key)) == std::string::npos) aliases += " " + underscored(argument.key);
  Field field = argument;
  field.means = argument.key;
  field.key = kept_text(std::move(key));
  field.aliases = kept_text(std::move(aliases));
  field.spelling = spelling;
  return field;
}

}  // namespace

std::vector<Field> core_fields(CoreProgram which) {
  std::vector<Field> fields;
  void (*read_precision)(const Value&, Draft&) = nullptr;
  for (const Field& argument : megatron_fields()) {
    if (argument.key == "precision") read_precision = argument.read;
    if (has_name(kOfScripts, argument.key)) continue;
    const CoreName* const name = core_name_of(argument.key);
    const std::string_view there = name == nullptr ? "" : which == CoreProgram::Bridge ? name->bridge : name->nemo;
    if (there == "-") continue;
    const Spelling spelling = name != nullptr ? name->spelling : has_name(kModelFlags, argument.key) ? Spelling::Flag : Spelling::AsItIs;
    fields.push_back(renamed(argument, there.empty() ? "model." + underscored(argument.key) : std::string(there), spelling));
  }
  fields.insert(fields.end(), std::begin(kShared), std::end(kShared));
  if (which == CoreProgram::Bridge) {
    fields.insert(fields.end(), std::begin(kBridgeOwn), std::end(kBridgeOwn));
    fields.push_back(kBridgeOptimizer);
  } else {
    fields.insert(fields.end(), std::begin(kNemoOwn), std::end(kNemoOwn));
    for (Field& field : fields) {
      if (field.read == nullptr) field.read = read_precision;
      if (field.key == "trainer.num_nodes") field.write = [](const ParallelPlan& p) { return written(p.cluster.hosts()); };
      if (field.key == "trainer.devices") field.write = [](const ParallelPlan& p) { return written(p.cluster.devices_per_host()); };
    }
  }
  return fields;
}

}  // namespace sim
