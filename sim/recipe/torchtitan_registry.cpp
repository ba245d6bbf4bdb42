// Functions of torchtitan's configuration registry (release 0.3.0), flavors of its older TOML files among them: the network of each and what it sets.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "sim/recipe/torchtitan.h"
#include "sim/recipe/torchtitan_registry.h"

namespace sim {
namespace {

constexpr std::int64_t kVocabularyOfLlama = 128'256, kVocabularyOfLlama2 = 32'000, kVocabularyOfQwen = 151'936;

struct DenseNetwork {
  std::string_view module, flavor;
  std::int64_t layers, dim, heads, kv_heads, head_dim, hidden_dim, vocabulary;
  bool is_tied;
};
constexpr DenseNetwork kNetworks[] = {
    // module, flavor, layers, dim, heads, kv_heads, head_dim, hidden_dim, vocabulary, tied
    {"llama2", "271M", 16, 1024, 8, 8, 128, 2816, kVocabularyOfLlama2, false},
    {"llama2", "1B", 18, 2048, 16, 16, 128, 5632, kVocabularyOfLlama2, false},
    {"llama2", "7B", 32, 4096, 32, 32, 128, 11'008, kVocabularyOfLlama2, false},
    {"llama2", "13B", 40, 5120, 40, 40, 128, 13'824, kVocabularyOfLlama2, false},
    {"llama2", "26B", 80, 5120, 40, 40, 128, 13'824, kVocabularyOfLlama2, false},
    {"llama2", "70B", 80, 8192, 64, 8, 128, 28'672, kVocabularyOfLlama2, false},
    {"llama3", "debugmodel", 6, 256, 16, 16, 16, 768, 2048, false},
    {"llama3", "debugmodel_flex_attn", 6, 256, 16, 16, 16, 768, 2048, false},
    {"llama3", "debugmodel_varlen_attn", 6, 256, 16, 16, 16, 768, 2048, false},
    {"llama3", "1B", 16, 2048, 32, 8, 64, 8192, kVocabularyOfLlama, true},
    {"llama3", "3B", 28, 3072, 24, 8, 128, 8192, kVocabularyOfLlama, true},
    {"llama3", "8B", 32, 4096, 32, 8, 128, 14'336, kVocabularyOfLlama, false},
    {"llama3", "8B_flex", 32, 4096, 32, 8, 128, 14'336, kVocabularyOfLlama, false},
    {"llama3", "8B_varlen", 32, 4096, 32, 8, 128, 14'336, kVocabularyOfLlama, false},
    {"llama3", "70B", 80, 8192, 64, 8, 128, 28'672, kVocabularyOfLlama, false},
    {"llama3", "405B", 126, 16'384, 128, 8, 128, 53'248, kVocabularyOfLlama, false},
    {"qwen3", "debugmodel", 8, 256, 16, 8, 128, 3072, 2048, false},
    {"qwen3", "debugmodel_non_fused_qkv", 8, 256, 16, 8, 128, 3072, 2048, false},
    {"qwen3", "0.6B", 28, 1024, 16, 8, 128, 3072, kVocabularyOfQwen, true},
    {"qwen3", "1.7B", 28, 2048, 16, 8, 128, 6144, kVocabularyOfQwen, true},
    {"qwen3", "4B", 36, 2560, 32, 8, 128, 9728, kVocabularyOfQwen, true},
    {"qwen3", "8B", 36, 4096, 32, 8, 128, 12'288, kVocabularyOfQwen, false},
    {"qwen3", "14B", 40, 5120, 40, 8, 128, 17'408, kVocabularyOfQwen, false},
    {"qwen3", "32B", 64, 5120, 64, 8, 128, 25'600, kVocabularyOfQwen, false},
};

// Of other kinds: the sizes that a recipe of ours would hold.
struct SizedNetwork {
  std::string_view module, flavor, sizes;
};
constexpr std::string_view kSizesOfQwen =
    "n_kv_heads=4 head_dim=128 vocab_size=151936 max_seq_len=40960 eps=1e-6 num_experts=128 top_k=8 route_norm=true ";
constexpr std::string_view kSizesOfDeepSeek =
    "head_dim=64 kv_lora_rank=512 qk_nope_head_dim=128 v_head_dim=128 max_seq_len=16384 theta=10000 scaling=yarn rope_factor=40 ";
constexpr std::string_view kSizesOfGptOss =
    "n_heads=64 n_kv_heads=8 head_dim=64 hidden_dim=2880 moe_hidden_dim=2880 top_k=4 route_norm=true max_seq_len=131072 theta=150000 "
    "scaling=yarn rope_factor=32 truncate=false ";
constexpr SizedNetwork kSizedNetworks[] = {
    {"qwen3", "debugmodel_moe",
     "n_layers=8 dim=256 n_heads=16 n_kv_heads=8 head_dim=128 hidden_dim=768 vocab_size=2048 max_seq_len=4096 theta=1000000 eps=1e-6 "
     "moe_hidden_dim=768 num_experts=64 top_k=8 route_norm=true"},
    {"qwen3", "30B-A3B", "n_layers=48 dim=2048 n_heads=32 hidden_dim=6144 theta=1000000 moe_hidden_dim=768"},
    {"qwen3", "235B-A22B", "n_layers=94 dim=4096 n_heads=64 hidden_dim=12288 theta=5000000 moe_hidden_dim=1536"},
    {"deepseek_v3", "debugmodel",
     "n_layers=6 dim=256 n_heads=16 hidden_dim=1024 vocab_size=2048 mscale=0.7 moe_hidden_dim=256 num_experts=8 num_shared_experts=2 "
     "n_dense_layers=1 top_k=3"},
    {"deepseek_v3", "16B",
     "n_layers=27 dim=2048 n_heads=16 hidden_dim=10944 vocab_size=102400 mscale=0.7 moe_hidden_dim=1408 num_experts=64 "
     "num_shared_experts=2 n_dense_layers=1 top_k=6"},
    {"deepseek_v3", "236B",
     "n_layers=60 dim=5120 n_heads=128 hidden_dim=12288 vocab_size=102400 mscale=1 q_lora_rank=1536 moe_hidden_dim=1536 num_experts=160 "
     "num_shared_experts=2 n_dense_layers=1 top_k=6 num_expert_groups=8 num_limited_groups=3 route_scale=16"},
    {"deepseek_v3", "671B",
     "n_layers=61 dim=7168 n_heads=128 hidden_dim=18432 vocab_size=129280 mscale=1 q_lora_rank=1536 moe_hidden_dim=2048 num_experts=256 "
     "num_shared_experts=1 n_dense_layers=3 top_k=8 score_func=sigmoid num_expert_groups=8 num_limited_groups=4 route_scale=2.5 "
     "route_norm=true"},
    {"gpt_oss", "debugmodel", "n_layers=4 dim=256 vocab_size=2048 num_experts=8"},
    {"gpt_oss", "20b", "n_layers=24 dim=2880 vocab_size=201088 num_experts=32"},
    {"gpt_oss", "120b", "n_layers=36 dim=2880 vocab_size=201088 num_experts=128"},
};

constexpr TorchtitanFunction kLlamaDebug{.name = "llama3_debugmodel",
                                         .module = "llama3",
                                         .flavor = "debugmodel",
                                         .local_batch = 8,
                                         .sequence = 2048,
                                         .learning_rate = 8e-4,
                                         .schedule = "interleaved"};
constexpr TorchtitanFunction variant(TorchtitanFunction function, std::string_view name, std::string_view lost) {
  function.name = name;
  function.lost = lost;
  return function;
}
constexpr TorchtitanFunction kDeepSeekDebug{.name = "deepseek_v3_debugmodel",
                                            .module = "deepseek_v3",
                                            .flavor = "debugmodel",
                                            .local_batch = 8,
                                            .sequence = 2048,
                                            .learning_rate = 8e-4};
constexpr TorchtitanFunction kDeepSeek16{.name = "deepseek_v3_16b",
                                         .module = "deepseek_v3",
                                         .flavor = "16B",
                                         .local_batch = 4,
                                         .sequence = 4096,
                                         .learning_rate = 2.2e-4,
                                         .expert = 8,
                                         .schedule = "interleaved"};
constexpr TorchtitanFunction kDeepSeek671{.name = "deepseek_v3_671b",
                                          .module = "deepseek_v3",
                                          .flavor = "671B",
                                          .local_batch = 4,
                                          .sequence = 4096,
                                          .learning_rate = 2.2e-4,
                                          .expert = 2,
                                          .schedule = "interleaved"};
constexpr TorchtitanFunction kQwenExpertsDebug{
    .name = "qwen3_moe_debug", .module = "qwen3", .flavor = "debugmodel_moe", .local_batch = 4, .sequence = 4096, .learning_rate = 3e-4};
constexpr TorchtitanFunction alone(TorchtitanFunction function) {
  function.expert = 1;
  return function;
}
constexpr TorchtitanFunction scaled(TorchtitanFunction function, ScaleRecipe scales) {
  function.scales = scales;
  return function;
}

constexpr TorchtitanFunction kFunctions[] = {
    kLlamaDebug,
    variant(kLlamaDebug, "llama3_debugmodel_varlen_attn", "an attention kernel of packed documents"),
    variant(kLlamaDebug, "llama3_debugmodel_dist_gemm", "communication of tensor ranks within their products"),
    variant(kLlamaDebug, "llama3_debugmodel_ce_loss", "a loss over all logits at once; the software profile says what the plan has"),
    scaled(variant(kLlamaDebug, "llama3_debugmodel_float8", "the head's product in 8 bit, too"), ScaleRecipe::Rowwise),
    {.name = "sft_debugmodel", .module = "llama3", .flavor = "debugmodel", .local_batch = 8, .sequence = 2048, .learning_rate = 8e-4},
    {.name = "llama3_8b", .module = "llama3", .flavor = "8B", .local_batch = 1, .sequence = 8192, .learning_rate = 3e-4},
    {.name = "llama3_8b_mxfp8",
     .module = "llama3",
     .flavor = "8B",
     .local_batch = 1,
     .sequence = 8192,
     .learning_rate = 3e-4,
     .scales = ScaleRecipe::Mx,
     .lost = "the head's product in 8 bit, too, and compiled kernels"},
    {.name = "llama3_70b",
     .module = "llama3",
     .flavor = "70B",
     .local_batch = 8,
     .sequence = 8192,
     .learning_rate = 1.5e-4,
     .tensor = 8,
     .recompute = Recompute::Full},
    {.name = "llama3_405b",
     .module = "llama3",
     .flavor = "405B",
     .local_batch = 2,
     .sequence = 8192,
     .learning_rate = 8e-5,
     .tensor = 8,
     .recompute = Recompute::Full,
     .scales = ScaleRecipe::Rowwise,
     .sends_along_products = true,
     .lost = "compiled kernels"},
    {.name = "qwen3_debugmodel", .module = "qwen3", .flavor = "debugmodel", .local_batch = 8, .sequence = 2048, .learning_rate = 8e-4},
    {.name = "qwen3_debugmodel_non_fused_qkv",
     .module = "qwen3",
     .flavor = "debugmodel_non_fused_qkv",
     .local_batch = 8,
     .sequence = 2048,
     .learning_rate = 8e-4,
     .lost = "queries, keys and values as three products; the plan has one"},
    {.name = "qwen3_0_6b", .module = "qwen3", .flavor = "0.6B", .local_batch = 4, .sequence = 4096, .learning_rate = 3e-4},
    {.name = "qwen3_1_7b", .module = "qwen3", .flavor = "1.7B", .local_batch = 4, .sequence = 4096, .learning_rate = 8e-4},
    {.name = "qwen3_14b",
     .module = "qwen3",
     .flavor = "14B",
     .local_batch = 4,
     .sequence = 4096,
     .learning_rate = 8e-4,
     .recompute = Recompute::Full},
    {.name = "qwen3_32b",
     .module = "qwen3",
     .flavor = "32B",
     .local_batch = 2,
     .sequence = 4096,
     .learning_rate = 8e-4,
     .recompute = Recompute::Full},
    {.name = "sft_qwen3_8b_math",
     .module = "qwen3",
     .flavor = "8B",
     .local_batch = 1,
     .sequence = 2048,
     .learning_rate = 2e-5,
     .lost = "an attention kernel of packed documents"},
    {.name = "qwen3_30b_a3b",
     .module = "qwen3",
     .flavor = "30B-A3B",
     .local_batch = 2,
     .sequence = 4096,
     .learning_rate = 8e-4,
     .recompute = Recompute::Full},
    kQwenExpertsDebug,
    {.name = "qwen3_moe_deepep",
     .module = "qwen3",
     .flavor = "debugmodel_moe",
     .local_batch = 2,
     .sequence = 512,
     .learning_rate = 3e-4,
     .expert = 4,
     .lost = "tokens that reach a node once (DeepEP)"},
    kDeepSeekDebug,
    variant(kDeepSeekDebug, "deepseek_v3_debugmodel_mtp", "a layer that predicts further tokens"),
    scaled(variant(kDeepSeekDebug, "deepseek_v3_debugmodel_mxfp8", ""), ScaleRecipe::Mx),
    variant(kDeepSeekDebug, "deepseek_v3_debugmodel_hybridep", "tokens that reach a node once (HybridEP)"),
    variant(kDeepSeekDebug, "deepseek_v3_debugmodel_minimal_async_ep", "exchanges without waiting"),
    kDeepSeek16,
    variant(kDeepSeek16, "deepseek_v3_16b_hybridep", "tokens that reach a node once (HybridEP)"),
    alone(variant(kDeepSeek16, "deepseek_v3_16b_minimal_async_ep", "exchanges without waiting")),
    kDeepSeek671,
    scaled(variant(kDeepSeek671, "deepseek_v3_671b_float8", ""), ScaleRecipe::Rowwise),
    {.name = "gpt_oss_debugmodel",
     .module = "gpt_oss",
     .flavor = "debugmodel",
     .local_batch = 8,
     .sequence = 2048,
     .learning_rate = 8e-4,
     .recompute = Recompute::None},
    {.name = "gpt_oss_20b",
     .module = "gpt_oss",
     .flavor = "20b",
     .local_batch = 1,
     .sequence = 8192,
     .learning_rate = 8e-4,
     .recompute = Recompute::Full},
    {.name = "gpt_oss_120b",
     .module = "gpt_oss",
     .flavor = "120b",
     .local_batch = 1,
     .sequence = 8192,
     .learning_rate = 8e-4,
     .recompute = Recompute::Full},
};

constexpr LostSetting kLostOfTorchtitan[] = {
    {"float8.emulate quantize.linear.float8.emulate mx.emulate", "products in 8 bit that are emulated"},
    {"float8.force_recompute_fp8_weight_in_bwd quantize.linear.float8.force_recompute_fp8_weight_in_bwd",
     "weights that are cast again in the backward"},
    {"quantize.*", "which products are in 8 bit, and how; in the plan those of the blocks' linear layers"},
    {"parallelism.enable_compiled_autograd experimental.enable_compiled_autograd enable_compiled_autograd", "compiled kernels"},
    {"parallelism.enable_fsdp_symm_mem", "gathers through symmetric memory; the plan has NCCL's"},
    {"parallelism.expert_tensor_parallel_degree expert_tensor_parallel_degree parallelism.expert_parallel_comm_backend",
     "how experts are cut; the plan cuts them over the tensor ranks"},
    {"optimizer.implementation", "how the optimizer steps: its kernels", "but fused"},
    {"debug.deterministic deterministic training.deterministic debug.batch_invariant", "deterministic kernels"},
    {"optimizer.foreach", "a kernel for each tensor that the optimizer steps", "off"},
    {"training.data_parallel_type", "weights are whole on each rank; the plan shards them", "but fsdp"},
    {"comm.mode", "messages that are not sent, or by another library; the plan's are NCCL's", "but default"},
    {"experimental.custom_import experimental.custom_args_module", "a module of its own, which may change network and steps"},
    {"parallelism.pipeline_parallel_split_points experimental.pipeline_parallel_split_points pipeline_parallel_split_points",
     "another cut of the stages; the plan's is even"},
    {"parallelism.disable_loss_parallel training.disable_loss_parallel disable_loss_parallel",
     "logits are gathered; the software profile says what the plan has"},
    {"memory_estimation.enabled fault_tolerance.enable lora.*", "another way of training"},
};

ModelConfig network_of(const DenseNetwork& network) {
  const bool is_qwen = network.module == "qwen3", is_llama2 = network.module == "llama2";
  ModelConfig model;
  model.model_type = is_qwen ? "qwen3" : "llama";
  model.layers = network.layers;
  model.hidden = network.dim;
  model.heads = network.heads;
  model.kv_heads = network.kv_heads;
  model.head_dim = network.head_dim;
  model.ffn = network.hidden_dim;
  model.vocabulary = network.vocabulary;
  model.max_positions = is_qwen ? 40'960 : is_llama2 ? 4'096 : 131'072;
  model.norm = Norm::RmsNorm;
  model.norm_epsilon = is_qwen ? 1e-6 : 1e-5;
  model.qk_norm = is_qwen ? QkNorm::Heads : QkNorm::None;
  model.position = Position::Rotary;
  model.activation = Activation::Silu;
  model.gated_mlp = true;
  model.rope_theta = is_qwen ? 1'000'000 : is_llama2 ? 10'000 : 500'000;
  if (network.module == "llama3") model.rope_scaling = {.kind = RopeScalingKind::Llama3, .factor = 8, .original_positions = 8192};
  model.tied_embeddings = network.is_tied;
  return model;
}

// "n_layers=48 dim=2048": as a recipe of ours says them.
ModelConfig network_of(const SizedNetwork& network) {
  Draft draft;
  draft.said["network.kind"] = network.module;
  const std::string_view shared = network.module == "qwen3"     ? kSizesOfQwen
                                  : network.module == "gpt_oss" ? kSizesOfGptOss
                                                                : kSizesOfDeepSeek;
  for (const std::string_view text : {shared, network.sizes}) {  // a flavor's own come last
    std::istringstream words{std::string(text)};
    for (std::string word; words >> word;) {
      const std::size_t middle = word.find('=');
      const std::string key = word.substr(0, middle), value = word.substr(middle + 1);
      const bool is_rope = key == "scaling" || key == "rope_factor" || key == "truncate";
      draft.said[(is_rope ? "rope." : "network.") + key] = value;
    }
  }
  return *network_of_sizes(draft);
}

}  // namespace

std::span<const LostSetting> torchtitan_lost() { return kLostOfTorchtitan; }

const std::string_view kTorchtitanWithoutEffect =
    "job.* dump_folder description print_args print_config profiling.* "
    "profiler.* metrics.* model.tokenizer_path "
    "model.hf_assets_path "
    "hf_assets_path tokenizer_path model.print_after_conversion "
    "model.tokenizer_type optimizer.eps eps optimizer.fused lr_scheduler.* decay_ratio decay_type min_lr_factor lr_min "
    "training.steps steps training.warmup_steps training.dataset training.dataset_path dataset dataset_path "
    "training.gc_freq training.gc_debug training.seed checkpoint.* comm.* "
    "validation.* validator.* "
    "activation_checkpoint.* compile.* memory_estimation.* fault_tolerance.* debug.* dataloader.* interval freq log_freq "
    "enable_tensorboard enable_wandb profile_freq enable_profiling save_traces_folder "
    "last_save_model_only initial_load_* rdzv_* rdzv-* rdzv_backend rdzv-backend max_restarts max-restarts max-restart node_rank node-rank "
    "master_* "
    "master-* "
    "training.shuffle_seed "
    "local-ranks-filter local_ranks_filter role tee standalone NGPU "
    "parallelism.spmd_backend loss_fn global_vocab_size model_spec loss "
    "SIZES ROPE training parallelism optimizer lr_scheduler checkpoint metrics profiler dataloader validator compile config spec base "
    "model "
    "work_group user_name exp_name workspace modules.* sink_level file_sink_level stderr_sink_level "
    "checkpoint_folder save_tb_folder folder async_mode export_dtype keep_latest_k ";

std::optional<ModelConfig> torchtitan_flavor(std::string_view module, std::string_view flavor) {
  const auto is_asked = [&](const auto& one) { return one.module == module && one.flavor == flavor; };
  if (const auto row = std::ranges::find_if(kNetworks, is_asked); row != std::end(kNetworks)) return network_of(*row);
  if (const auto row = std::ranges::find_if(kSizedNetworks, is_asked); row != std::end(kSizedNetworks)) return network_of(*row);
  return std::nullopt;
}

const TorchtitanFunction* torchtitan_function(std::string_view name) {
  const auto row = std::ranges::find(kFunctions, name, &TorchtitanFunction::name);
  return row == std::end(kFunctions) ? nullptr : &*row;
}

const TorchtitanFunction* function_of(const Draft& draft) {
  const std::string* const function = said(draft, "function");
  return function == nullptr ? nullptr : torchtitan_function(*function);
}

namespace {

// Of the function, or of an older file's flavor.
std::optional<ModelConfig> network_of(const Draft& draft) {
  if (const TorchtitanFunction* const function = function_of(draft)) return torchtitan_flavor(function->module, function->flavor);
  const std::string* const module = said(draft, "model.name");
  const std::string* const flavor = said(draft, "model.flavor");
  return said(draft, "function") == nullptr && module != nullptr && flavor != nullptr ? torchtitan_flavor(*module, *flavor) : std::nullopt;
}

}  // namespace

std::optional<ModelConfig> torchtitan_network(Draft& draft, const RecipeContext& context) {
  const std::optional<ModelConfig> network = network_of(draft);
  if (std::optional<ModelConfig> model = network_of_sizes(draft)) {
    if (context.model) model->initializer_range = context.model->initializer_range;
    return model;
  }
  if (!network && (said(draft, "function") != nullptr || said(draft, "model.flavor") != nullptr))
    draft.unknown.push_back(
        {"model.flavor",
         fmt::format("{} is no function or flavor known here; it might set batch, sequence, degrees and what is recomputed",
                     *said(draft, said(draft, "function") != nullptr ? "function" : "model.flavor")),
         "see what it sets, and give --model"});
  if (!network) return std::nullopt;
  const std::string flavor = text_of(draft, "model.flavor", "");
  if (flavor.find("_flex") != std::string::npos || flavor.find("_varlen") != std::string::npos)
    draft.lost.push_back(
        {"model.flavor", flavor + ": attention ends with each document of a row; the plan's spans the row", "mind its time"});
  ModelConfig model = *network;
  if (context.model) {  // of one size, whatever the tokenizer and the ends of positions
    model.vocabulary = context.model->vocabulary;
    model.tied_embeddings = context.model->tied_embeddings;
    model.rope_theta = context.model->rope_theta;
    model.rope_scaling = context.model->rope_scaling;
    model.norm_epsilon = context.model->norm_epsilon;
    model.max_positions = context.model->max_positions;
    model.initializer_range = context.model->initializer_range;
  }
  return model;
}

}  // namespace sim
