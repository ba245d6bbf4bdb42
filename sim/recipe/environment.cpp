// Facts: NCCL's and Transformer Engine's pages of environment variables, CUDA's programming guide (CUDA_LAUNCH_BLOCKING, NVIDIA_TF32_OVERRIDE), PyTorch's
// (TORCH_DISTRIBUTED_DEBUG, PYTORCH_NO_CUDA_MEMORY_CACHING, TORCHDYNAMO_DISABLE), accelerate/utils/launch.py (ACCELERATE_*, FSDP_*).
#include "sim/recipe/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/recipe/accounting.h"
#include "sim/recipe/program.h"

namespace sim {
namespace {

enum class Asked : std::uint8_t { Always, BetweenNodes };
struct EnvironmentWord {
  std::string_view names, idle;  // by a space; values that change nothing
  std::string_view what;
  Asked when = Asked::Always;
};
constexpr EnvironmentWord kEnvironmentWords[] = {
    {"NCCL_P2P_DISABLE NCCL_SHM_DISABLE", "0", "devices of a node do not reach each other directly; the plan's do"},
    {"NCCL_P2P_LEVEL", "NVL SYS 5", "which devices reach each other directly; the plan's all do"},
    {"NCCL_IB_DISABLE", "0", "nodes speak over sockets; the plan has the network of --cluster", Asked::BetweenNodes},
    {"NCCL_NET", "IB", "nodes speak over another network; the plan has the one of --cluster", Asked::BetweenNodes},
    {"NCCL_ALGO NCCL_PROTO NCCL_NVLS_ENABLE NCCL_MIN_NCHANNELS NCCL_MAX_NCHANNELS NCCL_MAX_CTAS", "",
     "how NCCL sums and gathers; the plan has what it chooses by itself"},
    {"NCCL_BLOCKING_WAIT TORCH_NCCL_BLOCKING_WAIT CUDA_LAUNCH_BLOCKING", "0", "the host waits where the plan's goes on"},
    {"TORCH_DISTRIBUTED_DEBUG", "OFF INFO", "every collective is checked first; the plan's is not"},
    {"NVTE_FLASH_ATTN NVTE_FUSED_ATTN", "1", "a kernel of attention is left out; the plan has the one that the arguments say"},
    {"NVTE_ALLOW_NONDETERMINISTIC_ALGO", "1", "deterministic kernels are slower than the plan's"},
    {"NVIDIA_TF32_OVERRIDE", "1", "products of fp32 without TF32"},
    {"PYTORCH_NO_CUDA_MEMORY_CACHING TORCHDYNAMO_DISABLE TORCH_COMPILE_DISABLE", "0", "memory or kernels otherwise than the plan's"},
    {"ACCELERATE_USE_* ACCELERATE_MIXED_PRECISION ACCELERATE_GRADIENT_ACCUMULATION_STEPS ACCELERATE_DYNAMO_* ACCELERATE_DEEPSPEED_* "
     "FSDP_*",
     "", "a setting of Accelerate, as its launcher hands it on: layout, types or batch; the plan has those of the line and its files"},
    {"MAX_PIXELS VIDEO_MAX_PIXELS FPS_MAX_FRAMES VIDEO_TOTAL_PIXELS", "", "images beside the text: a network that is not the plan's"},
    {"USE_MCA", "0 false", "LLaMA-Factory trains by Megatron-Core then, with a layout of its own"},
};

const EnvironmentWord* environment_word(const std::string& name) {
  const auto* const found = std::ranges::find_if(kEnvironmentWords, [&](const EnvironmentWord& one) { return has_name(one.names, name); });
  return found == std::end(kEnvironmentWords) ? nullptr : found;
}

// `env A=1 torchrun train.py`, `docker run -e A=1`: up to the program, whose arguments are its own.
Texts in_front_of_program(const std::string& command) {
  Texts found;
  for (const std::string& word : words_of(command)) {
    if (word.ends_with(".py")) break;
    if (const std::size_t equals = word.find('='); equals != std::string::npos) found[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return found;
}

// A path or a name that an option has too was exported for that option.
bool stands_in(const std::string& command, const std::string& value) {
  return value.size() > 2 && in_lower_case(value) != "true" && command.find(value) != std::string::npos;
}

}  // namespace

bool counts_in_environment(const std::string& name) { return environment_word(name) != nullptr; }

bool may_count_in_environment(const std::string& name) {
  constexpr std::string_view kOfLibraries[] = {"NCCL_",   "NVTE_", "CUDA_",  "TORCH",       "PYTORCH_",
                                               "TRITON_", "HF_",   "WANDB_", "ACCELERATE_", "FSDP_"};
  constexpr std::string_view kStems[] = {"FUSED", "FLASH",  "KERNEL", "RECOMPUTE", "REMAT", "OFFLOAD",
                                         "EVICT", "BUDGET", "DTR_",   "FP8",       "QUANT"};
  const bool is_of_library = std::ranges::any_of(kOfLibraries, [&](std::string_view one) { return name.starts_with(one); });
  return !is_of_library && std::ranges::any_of(kStems, [&](std::string_view one) { return name.find(one) != std::string::npos; });
}

void tell_environment(Draft& draft) {
  Texts all = in_front_of_program(draft.launch.command);
  for (const auto& [name, value] : draft.launch.environment) all.try_emplace(name, value);
  for (const auto& [name, value] : all) {
    const EnvironmentWord* const word = environment_word(name);
    if (word == nullptr && may_count_in_environment(name) && is_on(value) && !stands_in(draft.launch.command, value))
      draft.unknown.push_back({name, fmt::format("is {} in the environment: code may read it, and change kernels or memory", shown(value)),
                               "see what it does"});
    const bool is_there = word != nullptr && !value.empty() && !has_name(word->idle, value);
    if (!is_there || (word->when == Asked::BetweenNodes && draft.plan.cluster.nodes() == 1)) continue;
    draft.lost.push_back({name, fmt::format("is {}: {}", shown(value), word->what), "mind it when you read the figures"});
  }
}

}  // namespace sim
