// What a device and its links can do: data sheet numbers with their source, and points measured on it.
// Lives in profiles/hardware/*.json ("format": "meshwright.hardware/2"); `meshwright measure` and `calibrate` write one.
// Holds data only: no pricing rule is here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/device_power.h"
#include "sim/cluster/kernel_traits.h"
#include "sim/cluster/pods.h"
#include "sim/cluster/scale_recipe.h"
#include "sim/units/json_fwd.h"
#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace sim {

enum class Precision : std::uint8_t { Fp64, Fp32, Tf32, Bf16, Fp16 };
inline constexpr std::string_view kPrecisionNames[] = {"fp64", "fp32", "tf32", "bf16", "fp16"};
inline constexpr std::size_t kNumPrecisions = 5;
inline bool is_sixteen_bit(Precision precision) { return precision == Precision::Bf16 || precision == Precision::Fp16; }
Bytes bytes_per_element(Precision precision);  // of weights and activations in that precision

enum class DeviceKind : std::uint8_t { Cpu, Gpu };
inline constexpr std::string_view kDeviceKindNames[] = {"cpu", "gpu"};

// Kernels that `measure` times. `shape` of a MeasuredKernel, in this order:
enum class Kernel : std::uint8_t {
  LinearForward,         // tokens, outputs, inputs; of experts: tokens of each, and how many
  LinearInputGradient,   // tokens, outputs, inputs
  LinearWeightGradient,  // tokens, outputs, inputs
  AttentionForward,      // batch, heads, sequence, head_dim (causal)
  AttentionBackward,     // batch, heads, sequence, head_dim
  NormForward,
  NormBackward,  // tokens, width
  ActivationForward,
  ActivationBackward,  // tokens, width
  GatedActivationForward,
  GatedActivationBackward,  // tokens, width: silu(a) * b
  ResidualForward,
  ResidualBackward,  // tokens, width: x + y (+ bias)
  EmbeddingForward,
  EmbeddingBackward,  // tokens, width
  CrossEntropyForward,
  CrossEntropyBackward,  // tokens, vocabulary
  RotaryForward,
  RotaryBackward,  // tokens, width
  DropoutForward,
  DropoutBackward,  // tokens, width
  Routing,          // tokens, experts: softmax, top k, counts; either direction
  Permutation,      // rows, width: out to experts or back, half of both; either direction
  StateSpaceForward,
  StateSpaceBackward,  // tokens, heads, groups, state, width of a head, chunk: the scan of Mamba-2
  DeltaRuleForward,
  DeltaRuleBackward,  // tokens, heads, groups, width of a key, width of a value, chunk: the gated delta rule
  ChannelDeltaForward,
  ChannelDeltaBackward,  // as the delta rule's, with decays of channels
  SelectiveScanForward,
  SelectiveScanBackward,  // tokens, channels, groups, state of a channel, 1, tokens of a sample: the scan of Mamba
  SparseForward,
  SparseBackward,  // batch, heads, sequence, width of a latent key, of a latent value, chosen tokens (causal)
  IndexerForward,
  IndexerBackward,  // batch, heads, sequence, width, chosen tokens (causal)
  AdamW,
  Sgd,           // elements
  SquaredNorm,   // elements: the gradient norm
  Copy,          // bytes
  OperatorCall,  // -: a forward operator on one element, gradients recorded
  AutogradCall,  // -: its backward
  AllReduce,
  ReduceScatter,
  AllGather,
  SendReceive,  // payload bytes, ranks in the group
};
inline constexpr std::string_view kKernelNames[] = {"linear_forward",
                                                    "linear_input_gradient",
                                                    "linear_weight_gradient",
                                                    "attention_forward",
                                                    "attention_backward",
                                                    "norm_forward",
                                                    "norm_backward",
                                                    "activation_forward",
                                                    "activation_backward",
                                                    "gated_activation_forward",
                                                    "gated_activation_backward",
                                                    "residual_forward",
                                                    "residual_backward",
                                                    "embedding_forward",
                                                    "embedding_backward",
                                                    "cross_entropy_forward",
                                                    "cross_entropy_backward",
                                                    "rotary_forward",
                                                    "rotary_backward",
                                                    "dropout_forward",
                                                    "dropout_backward",
                                                    "routing",
                                                    "permutation",
                                                    "state_space_forward",
                                                    "state_space_backward",
                                                    "delta_rule_forward",
                                                    "delta_rule_backward",
                                                    "channel_delta_forward",
                                                    "channel_delta_backward",
                                                    "selective_scan_forward",
                                                    "selective_scan_backward",
                                                    "sparse_forward",
                                                    "sparse_backward",
                                                    "indexer_forward",
                                                    "indexer_backward",
                                                    "adamw",
                                                    "sgd",
                                                    "squared_norm",
                                                    "copy",
                                                    "operator_call",
                                                    "autograd_call",
                                                    "all_reduce",
                                                    "reduce_scatter",
                                                    "all_gather",
                                                    "send_receive"};

std::size_t shape_size(Kernel kernel);  // how many numbers its shape has

struct MeasuredKernel {
  Kernel kernel{};
  Precision precision = Precision::Fp32;
  std::int32_t concurrent_ranks = 1;  // how many ranks of the node did this at the same time
  std::vector<std::int64_t> shape;    // see Kernel
  Seconds time{};                     // median
};

struct LinkProfile {
  std::string type;                 // "nvlink3", "infiniband", "shared memory"
  Seconds latency{};                // of one message
  BytesPerSecond bandwidth{};       // that long messages reach, one direction; per device (intra-node) or per node (inter-node)
  BytesPerSecond peak_bandwidth{};  // of the data sheet; zero: not known. Where kernels are described, nodes share `network_share` of it
  std::int32_t lanes = 1;           // equal parts that carry it: links of a device, adapters of a node
  std::vector<PodLevel> pods = {};  // between nodes, innermost first, at most kPodLevels; empty: one pod for all
  bool switch_sums = false;  // between nodes: switches add up what passes, and the library uses it for all-reduces (InfiniBand SHARP)
};

struct Correction {  // made by calibrate: measured = factor * priced, per task kind
  std::string kind;  // "forward.attention", as TaskKey's kind text
  double factor = 1.0;
  std::int64_t samples = 0;
};

struct FieldSource {
  std::string field;  // "memory_bandwidth", "peak.bf16"; "peak" or "intra_node" for all of them
  std::string text;   // where that number comes from
};

// LibTorch 2.11, aten/src/ATen/cuda/CublasHandlePool.cpp: 2 x 4096 and 8 x 16 KiB; at compute capability 9.0 alone 8 x 4096.
inline constexpr Bytes kHandleWorkspace{std::int64_t{8320} << 10};

struct HardwareProfile {
  std::int32_t format = 2;  // of its file; in the first numbers stand that nothing is predicted from
  std::string name;
  DeviceKind kind = DeviceKind::Gpu;
  std::string source;  // where the numbers come from: data sheet with URL, or the measuring command
  std::string date;
  std::vector<FieldSource> sources;  // of each number by itself; empty: `source` speaks for all of them
  Bytes memory{};                    // per device (CPU: of the machine divided by its ranks at plan time is the caller's choice)
  Bytes node_memory{};               // GPUs: of their node's host, which offloading fills; zero: not known
  BytesPerSecond memory_bandwidth{};
  double memory_efficiency = 1.0;                     // share of it that a long elementwise kernel reaches
  std::array<FlopsPerSecond, kNumPrecisions> peak{};  // matrix products, dense; zero: not supported
  double matrix_efficiency = 1.0;                     // share of peak that a large matrix product reaches
  double attention_efficiency = 1.0;                  // the same for fused attention
  Seconds kernel_overhead{};                          // floor of one operator (launch, dispatch)
  Bytes handle_workspace = kHandleWorkspace;          // GPU: what LibTorch gives each handle of the matrix library on a stream
  std::int32_t devices_per_node = 1;                  // joined by the inner links
  std::int32_t devices_per_host = 0;                  // of one machine, where the links join several (NVL72: 4); 0: a node is one
  std::int32_t cores_per_node = 0;                    // CPU: cores that the node's ranks share; 0: devices do not share cores
  bool overlaps_communication = true;                 // false: a collective runs on the compute thread where it is issued
  LinkProfile intra_node, inter_node;                 // empty type: there is none
  std::optional<KernelTraits> kernels;                // none: kernels are priced by the roofline alone
  std::optional<DevicePower> power;                   // none: not known, and no energy is told
  std::vector<MeasuredKernel> measured;
  std::vector<Correction> corrections;
  std::vector<std::string> traces;  // calibrate: the trace files it came from
};

// Of products with such scales; empty: the part has them.
std::string why_not_scaled(const HardwareProfile& profile, ScaleRecipe recipe);

// Accepts a path or a name in profiles/hardware ("a100-80gb-sxm"). Throws InputError: missing unit, missing source, ...
HardwareProfile load_hardware_profile(const std::string& path_or_name);
Json to_json(const HardwareProfile& profile);
void save_hardware_profile(const HardwareProfile& profile, const std::string& path);
HardwareProfile hardware_profile_from_json(const Json& json, const std::string& file);

}  // namespace sim
