// Facts: NCCL's and Transformer Engine's pages of environment variables, CUDA's programming guide (CUDA_LAUNCH_BLOCKING, NVIDIA_TF32_OVERRIDE), PyTorch's
// (TORCH_DISTRIBUTED_DEBUG, PYTORCH_NO_CUDA_MEMORY_CACHING, TORCHDYNAMO_DISABLE), accelerate/utils/launch.py (ACCELERATE_*, FSDP_*).
#include "sim/recipe/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

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
    {"NVTE_TORCH_COMPILE NVTE_BIAS_GELU_NVFUSION NVTE_BIAS_DROPOUT_FUSION", "1",
     "a kernel for each of its operations; the software profile says what the plan fuses"},
    {"NVTE_FWD_LAYERNORM_SM_MARGIN NVTE_BWD_LAYERNORM_SM_MARGIN", "0", "norms leave some of the device to messages; the plan's do not"},
    {"NVTE_CPU_OFFLOAD_V1", "0", "Transformer Engine's first way of offloading: other copies and waits than the plan's"},
    {"NVIDIA_TF32_OVERRIDE", "1", "products of fp32 without TF32"},
    {"NCCL_NET_GDR_LEVEL", "SYS PHB PXB PIX 1 2 3 4 5", "messages between nodes cross the host's memory; the plan's do not",
     Asked::BetweenNodes},
    {"PYTORCH_NO_CUDA_MEMORY_CACHING TORCHDYNAMO_DISABLE TORCH_COMPILE_DISABLE", "0", "memory or kernels otherwise than the plan's"},
    {"ACCELERATE_USE_* ACCELERATE_MIXED_PRECISION ACCELERATE_GRADIENT_ACCUMULATION_STEPS ACCELERATE_DYNAMO_* ACCELERATE_DEEPSPEED_* "
     "FSDP_*",
     "", "a setting of Accelerate, as its launcher hands it on: layout, types or batch; the plan has those of the line and its files"},
    {"MAX_PIXELS VIDEO_MAX_PIXELS FPS_MAX_FRAMES VIDEO_TOTAL_PIXELS", "", "images beside the text: a network that is not the plan's"},
    {"USE_MCA", "0 false", "LLaMA-Factory trains by Megatron-Core then, with a layout of its own"},
};

// Of libraries, launchers, loggers and machines: none of them changes what a step does on the devices of a plan. By a space, x* is all that begin so.
constexpr std::string_view kIdleVariables =
    "PATH HOME USER SHELL LANG LC_* TERM EDITOR TZ TMP TEMP PWD OLDPWD DISPLAY CC CXX MAX_JOBS LD_* DYLD_* LIBRARY_PATH CPATH CFLAGS "
    "CXXFLAGS LDFLAGS PYTHON* PROTOCOL_BUFFERS_* VIRTUAL_ENV CONDA_* MAMBA_ROOT* PIP_* UV_* XDG_* GIT_* SSH_* OMP_* MKL_* OPENBLAS_* "
    "NUMEXPR_* KMP_* "
    "MALLOC_* GOMP_* SLURM_* SBATCH_* SRUN_* PBS_* LSB_* PMI* PMIX_* OMPI_* I_MPI_* MPI_* MPICH_* GLOO_* UCX_* UCC_* FI_* RDMAV_* "
    "IBV_* HYDRA_* TP_SOCKET_* http_proxy https_proxy no_proxy ftp_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY CURL_* "
    "REQUESTS_* SSL_* AWS_* S3_* AZURE_* GOOGLE_* GCS_* GCP_* KUBE* K8S_* RAY_* WANDB_* HF_* HUGGINGFACE_* HUGGING_FACE_* "
    "TRANSFORMERS_* DATASETS_* MODELSCOPE_* USE_MODELSCOPE* USE_HF USE_TF USE_FLAX USE_TORCH MLFLOW_* COMET_* CLEARML_* NEPTUNE_* "
    "SWANLAB_* TENSORBOARD_* "
    "DISABLE_MLFLOW* DISABLE_VERSION_CHECK TOKENIZERS_PARALLELISM BITSANDBYTES_* BNB_CUDA_VERSION ACCELERATE_LOG_LEVEL "
    "ACCELERATE_DISABLE_RICH DS_SKIP_* DS_BUILD_* DEEPSPEED_* LOGLEVEL LOG_LEVEL FORCE_TORCHRUN N_REPEATS NON_DETERMINSTIC_RESULTS DEBUG "
    "VERBOSE HYDRA_FULL_ERROR "
    "ALLOW_EXTRA_ARGS SEED RANDOM_SEED MASTER_* RDZV_* WORLD_SIZE RANK LOCAL_RANK NODE_RANK LOCAL_WORLD_SIZE GROUP_RANK NNODES "
    "NUM_NODES NPROC_PER_NODE GPUS_PER_NODE NUM_GPUS NGPU LOG_RANK PET_* TORCHELASTIC_* ELASTIC_* NVIDIA_VISIBLE_DEVICES NVIDIA_DRIVER_* "
    "NVIDIA_PYTORCH_* CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER CUDA_DEVICE_MAX_CONNECTIONS CUDA_MODULE_LOADING CUDA_CACHE_* CUDA_ROOT "
    "CUBLAS_WORKSPACE_CONFIG CUDNN_* NCCL_DEBUG* NCCL_IB_* NCCL_SOCKET_* NCCL_NSOCKS_* NCCL_NET_GDR_READ NCCL_NET_PLUGIN "
    "NCCL_CROSS_NIC NCCL_TOPO_* NCCL_ASYNC_ERROR_HANDLING NCCL_TIMEOUT* NCCL_CUMEM_* NCCL_TUNER_* NCCL_LAUNCH_MODE NCCL_HOSTID "
    "NCCL_COMM_ID NCCL_IGNORE_CPU_AFFINITY NCCL_SET_* NCCL_P2P_NET_* NCCL_PXN_* NCCL_HCA NCCL_BOOTSTRAP_* NCCL_WORK_* NCCL_IGNORE_* "
    "TORCH_NCCL_* NCCL_GRAPH_* NVTE_DEBUG* NVTE_FRAMEWORK NVTE_APPLY_QK_LAYER_SCALING TORCH_CUDA_ARCH_LIST TORCH_CPP_* TORCH_SHOW_* "
    "TORCH_LOGS* TORCH_EXTENSIONS_* TORCH_HOME TORCH_DISTRIBUTED_TIMEOUT TORCH_FR_* TORCH_TRACE TORCHINDUCTOR_CACHE_* TORCH_FORCE_* "
    "TORCH_COMPILE_DEBUG PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF PYTORCH_HIP_ALLOC_CONF PYTORCH_KERNEL_CACHE_* TRITON_CACHE_* "
    "TRITON_HOME TF_CPP_* TF_FORCE_* TF_ENABLE_ONEDNN_OPTS "
    // other makers' devices
    "ASCEND_* HCCL_* ACL_* NPU_* TASK_QUEUE_ENABLE COMBINED_ENABLE CPU_AFFINITY_CONF PYTORCH_NPU_* MUSA_* MCCL_* HSA_* HIP_* ROCM_* "
    "ROCR_* RCCL_* MIOPEN_* GPU_MAX_HW_QUEUES";
// The end of a name, by its last word: places, keys and names of things.
constexpr std::string_view kIdleEnds =
    "PATH DIR DIRS DIRECTORY HOME ROOT FOLDER FILE FILES LOG LOGS CACHE KEY TOKEN PASSWORD SECRET PORT ADDR ADDRESS HOST HOSTS "
    "HOSTFILE IP URL ENDPOINT PROXY PROJECT ENTITY NAME ID USER GROUP TAG DATE TIME TIMESTAMP IMAGE CONTAINER PARTITION ACCOUNT JOBID "
    "VERBOSITY SEED IFNAME PREFIX";

bool is_idle_variable(const std::string& name) {
  return has_name(kIdleVariables, name) || has_name(kIdleEnds, name.substr(name.rfind('_') + 1));
}

const EnvironmentWord* environment_word(const std::string& name) {
  const auto* const found = std::ranges::find_if(kEnvironmentWords, [&](const EnvironmentWord& one) { return has_name(one.names, name); });
  return found == std::end(kEnvironmentWords) ? nullptr : found;
}

// `env A=1 torchrun train.py`, `docker run -e A=1`: up to the program, whose arguments are its own. Names that nobody knows stand in front of all but these
// words: `train model=llama` sets no variable.
Texts in_front_of_program(const std::string& command) {
  constexpr std::string_view kBefore = "env sudo exec time nohup eval -e --env";
  Texts found;
  bool is_in_front = true;
  for (const std::string& word : words_of(command)) {
    if (word.ends_with(".py")) break;
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) is_in_front = has_name(kBefore, word);
    const std::string name = word.substr(0, equals);
    if (equals != std::string::npos && (is_in_front || !may_count_in_environment(name))) found[name] = word.substr(equals + 1);
  }
  return found;
}

bool may_be_in_a_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A path or a name that an option has too was exported for that option.
bool stands_in(const std::string& command, const std::string& value) {
  const auto is_of_a_word = [&](std::size_t at) { return at < command.size() && may_be_in_a_name(command[at]); };
  if (value.size() < 3 || in_lower_case(value) == "true") return false;
  for (std::size_t at = command.find(value); at != std::string::npos; at = command.find(value, at + 1))
    if ((at == 0 || !is_of_a_word(at - 1)) && !is_of_a_word(at + value.size())) return true;
  return false;
}

bool is_place(const std::string& value) { return value.find('/') != std::string::npos || value.find('@') != std::string::npos; }

}  // namespace

bool counts_in_environment(const std::string& name) { return environment_word(name) != nullptr; }

bool sounds_in_environment(const std::string& name) {
  constexpr std::string_view kStems[] = {"FUSED", "FLASH",  "KERNEL", "RECOMPUTE", "REMAT", "OFFLOAD",
                                         "EVICT", "BUDGET", "DTR_",   "FP8",       "QUANT"};
  return may_count_in_environment(name) &&
         std::ranges::any_of(kStems, [&](std::string_view one) { return name.find(one) != std::string::npos; });
}

bool may_count_in_environment(const std::string& name) {
  const bool is_name =
      !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 && std::ranges::all_of(name, may_be_in_a_name);
  return is_name && environment_word(name) == nullptr && !name.starts_with("NEURON_") && name != "PJRT_DEVICE" && name != "CONFIG_FILE" &&
         !is_idle_variable(name);
}

void tell_environment(Draft& draft) {
  Texts all = in_front_of_program(draft.launch.command);
  for (const auto& [name, value] : draft.launch.environment) all.try_emplace(name, value);
  std::vector<std::string> others;
  for (const auto& [name, value] : all) {
    const EnvironmentWord* const word = environment_word(name);
    const bool may_count = may_count_in_environment(name) && !stands_in(draft.launch.command, value);
    if (may_count && sounds_in_environment(name) && is_on(value))
      draft.unknown.push_back({name, fmt::format("is {} in the environment: code may read it, and change kernels or memory", shown(value)),
                               "see what it does"});
    else if (may_count && !value.empty() && !is_place(value))
      others.push_back(fmt::format("{}={}", name, shown(value)));
    const bool is_there = word != nullptr && !value.empty() && !has_name(word->idle, value);
    if (!is_there || (word->when == Asked::BetweenNodes && draft.plan.cluster.nodes() == 1)) continue;
    draft.lost.push_back({name, fmt::format("is {}: {}", shown(value), word->what), "mind it when you read the figures"});
  }
  if (others.empty()) return;
  draft.unknown.push_back({"",
                           fmt::format("has {} in the environment, which no option takes: code may read {}", fmt::join(others, ", "),
                                       others.size() > 1 ? "them" : "it"),
                           "see that no time or memory follows from it"});
}

}  // namespace sim
