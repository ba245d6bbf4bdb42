// Functions of torchtitan's configuration registry (release 0.3.0), flavors of its older TOML files among them: the network of each and what it sets.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "sim/recipe/torchtitan_registry.h"

namespace sim {
namespace {

constexpr std::int64_t kVocabularyOfLlama = 128'256, kVocabularyOfQwen = 151'936;

constexpr TorchtitanFunction kFunctions[] = {
    // module, flavor, function, layers, dim, heads, kv_heads, head_dim, hidden_dim, vocabulary, theta, tied, local batch, sequence, tensor, full, normed
    {"llama3", "debugmodel", "llama3_debugmodel", 6, 256, 16, 16, 16, 768, 2048, 500'000, false, 8, 2048, 1, false, false},
    {"llama3", "1B", "", 16, 2048, 32, 8, 64, 8192, kVocabularyOfLlama, 500'000, true, 8, 2048, 1, false, false},
    {"llama3", "3B", "", 28, 3072, 24, 8, 128, 8192, kVocabularyOfLlama, 500'000, true, 8, 2048, 1, false, false},
    {"llama3", "8B", "llama3_8b", 32, 4096, 32, 8, 128, 14'336, kVocabularyOfLlama, 500'000, false, 1, 8192, 1, false, false},
    {"llama3", "70B", "llama3_70b", 80, 8192, 64, 8, 128, 28'672, kVocabularyOfLlama, 500'000, false, 8, 8192, 8, true, false},
    {"llama3", "405B", "llama3_405b", 126, 16'384, 128, 8, 128, 53'248, kVocabularyOfLlama, 500'000, false, 2, 8192, 8, true, false},
    {"qwen3", "debugmodel", "qwen3_debugmodel", 8, 256, 16, 8, 128, 3072, 2048, 1'000'000, false, 8, 2048, 1, false, true},
    {"qwen3", "0.6B", "qwen3_0_6b", 28, 1024, 16, 8, 128, 3072, kVocabularyOfQwen, 1'000'000, true, 4, 4096, 1, false, true},
    {"qwen3", "1.7B", "qwen3_1_7b", 28, 2048, 16, 8, 128, 6144, kVocabularyOfQwen, 1'000'000, true, 4, 4096, 1, false, true},
    {"qwen3", "14B", "qwen3_14b", 40, 5120, 40, 8, 128, 17'408, kVocabularyOfQwen, 1'000'000, false, 4, 4096, 1, true, true},
    {"qwen3", "32B", "qwen3_32b", 64, 5120, 64, 8, 128, 25'600, kVocabularyOfQwen, 1'000'000, false, 2, 4096, 1, true, true},
};

constexpr LostSetting kLostOfTorchtitan[] = {
    {"quantize.*", "which products are in 8 bit, and how; in the plan those of the blocks' linear layers"},
    {"compile.enable training.compile parallelism.enable_compiled_autograd experimental.enable_compiled_autograd enable_compiled_autograd",
     "compiled kernels"},
    {"parallelism.enable_async_tensor_parallel experimental.enable_async_tensor_parallel enable_async_tensor_parallel "
     "compile.enable_async_tensor_parallel parallelism.enable_fsdp_symm_mem",
     "communication beside computation; the plan has it after one another"},
    {"parallelism.expert_tensor_parallel_degree expert_tensor_parallel_degree parallelism.expert_parallel_comm_backend",
     "how experts are cut; the plan cuts them over the tensor ranks"},
    {"optimizer.early_step_in_backward early_step_in_backward optimizer.implementation", "when and how the optimizer steps"},
    {"debug.deterministic deterministic training.deterministic debug.moe_force_load_balance", "deterministic kernels, balanced experts"},
    {"parallelism.pipeline_parallel_split_points experimental.pipeline_parallel_split_points pipeline_parallel_split_points",
     "another cut of the stages; the plan's is even"},
    {"parallelism.disable_loss_parallel training.disable_loss_parallel disable_loss_parallel",
     "logits are gathered; the software profile says what the plan has"},
    {"memory_estimation.enabled fault_tolerance.enable lora.*", "another way of training"},
};

std::int64_t count_in(const Draft& draft, const std::string& key) {
  const std::string* const text = said(draft, key);
  return text == nullptr ? 0 : std::atoll(text->c_str());
}

}  // namespace

std::span<const LostSetting> torchtitan_lost() { return kLostOfTorchtitan; }

const std::string_view kTorchtitanWithoutEffect =
    "job.* float8.* mx.* dump_folder description print_args print_config profiling.* profiler.* metrics.* model.tokenizer_path "
    "model.hf_assets_path "
    "hf_assets_path tokenizer_path model.print_after_conversion model.norm_type "
    "model.tokenizer_type optimizer.eps eps optimizer.fused optimizer.foreach lr_scheduler.* decay_ratio decay_type min_lr_factor lr_min "
    "training.steps steps training.warmup_steps training.dataset training.dataset_path dataset dataset_path "
    "training.gc_freq training.gc_debug training.mixed_precision_* training.seed training.data_parallel_type checkpoint.* comm.* "
    "validation.* validator.* experimental.custom_import experimental.custom_args_module "
    "activation_checkpoint.* compile.* memory_estimation.* fault_tolerance.* debug.* dataloader.* interval freq log_freq "
    "enable_tensorboard enable_wandb profile_freq enable_profiling save_traces_folder "
    "last_save_model_only initial_load_* nnodes nproc-per-node nproc_per_node rdzv_backend rdzv_endpoint rdzv-backend rdzv-endpoint "
    "local-ranks-filter local_ranks_filter role tee standalone NGPU "
    "parallelism.context_parallel_load_balancer parallelism.context_parallel_rotate_method experimental.context_parallel_rotate_method "
    "context_parallel_rotate_method parallelism.spmd_backend loss_fn global_vocab_size model_spec loss "
    "SIZES training parallelism optimizer lr_scheduler checkpoint metrics profiler dataloader validator compile config spec base model "
    "checkpoint_folder save_tb_folder folder async_mode export_dtype keep_latest_k ";

const TorchtitanFunction* torchtitan_function(std::string_view module, std::string_view name) {
  const auto row = std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const TorchtitanFunction& one) {
    return (one.function == name && !name.empty()) || (one.module == module && one.flavor == name);
  });
  return row == std::end(kFunctions) ? nullptr : &*row;
}

ModelConfig network_of(const TorchtitanFunction& function) {
  ModelConfig model;
  model.model_type = "llama";
  model.layers = function.layers;
  model.hidden = function.dim;
  model.heads = function.heads;
  model.kv_heads = function.kv_heads;
  model.head_dim = function.head_dim;
  model.ffn = function.hidden_dim;
  model.vocabulary = function.vocabulary;
  model.max_positions = 131'072;
  model.norm = Norm::RmsNorm;
  model.position = Position::Rotary;
  model.activation = Activation::Silu;
  model.gated_mlp = true;
  model.rope_theta = static_cast<double>(function.theta);
  model.tied_embeddings = function.is_tied;
  return model;
}

// Those of the registry's function, where the file says nothing else.
const TorchtitanFunction* function_of(const Draft& draft) {
  const std::string* const function = said(draft, "function");
  const std::string* const module = said(draft, "model.name");
  const std::string* const flavor = said(draft, "model.flavor");
  if (function != nullptr) return torchtitan_function(module == nullptr ? "" : *module, *function);
  return module != nullptr && flavor != nullptr ? torchtitan_function(*module, *flavor) : nullptr;
}

std::optional<ModelConfig> torchtitan_network(Draft& draft, const RecipeContext& context) {
  const TorchtitanFunction* const function = function_of(draft);
  if (count_in(draft, "network.n_layers") > 0 && count_in(draft, "network.vocab_size") > 0) {
    ModelConfig model = network_of(*torchtitan_function("llama3", "8B"));
    model.layers = count_in(draft, "network.n_layers");
    model.hidden = count_in(draft, "network.dim");
    model.heads = count_in(draft, "network.n_heads");
    model.kv_heads = count_in(draft, "network.n_kv_heads");
    model.head_dim = count_in(draft, "network.head_dim");
    model.ffn = count_in(draft, "network.hidden_dim");
    model.vocabulary = count_in(draft, "network.vocab_size");
    if (const std::string* const positions = said(draft, "network.max_seq_len"))
      model.max_positions = std::max<long long>(1, std::atoll(positions->c_str()));
    if (const std::string* const theta = said(draft, "network.theta")) model.rope_theta = std::max(1e-30, std::atof(theta->c_str()));
    if (const std::string* const epsilon = said(draft, "network.eps")) model.norm_epsilon = std::max(1e-30, std::atof(epsilon->c_str()));
    if (context.model) model.initializer_range = context.model->initializer_range, model.attention_dropout = 0;
    return model;
  }
  if (function == nullptr && (said(draft, "function") != nullptr || said(draft, "model.flavor") != nullptr))
    draft.unknown.push_back(
        {"model.flavor",
         fmt::format("{} is no function or flavor known here; it might set batch, sequence, degrees and what is recomputed",
                     *said(draft, said(draft, "function") != nullptr ? "function" : "model.flavor")),
         "see what it sets, and give --model"});
  if (function == nullptr) return std::nullopt;
  if (function->is_normed) draft.lost.push_back({"model", "norms queries and keys; the plan has none of their time and memory", "mind it"});
  ModelConfig model = network_of(*function);
  if (context.model) {  // of one size, whatever the tokenizer and the ends of positions
    model.vocabulary = context.model->vocabulary;
    model.tied_embeddings = context.model->tied_embeddings;
    model.rope_theta = context.model->rope_theta;
    model.norm_epsilon = context.model->norm_epsilon;
    model.max_positions = context.model->max_positions;
    model.initializer_range = context.model->initializer_range;
  }
  return model;
}

}  // namespace sim
