#include "gui/import/kernel_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace gui {
namespace {

struct KernelWord {
  std::string_view word;
  WorkKind kind{};
};
// The first that occurs tells; in lower case. NCCL and RCCL; FlashAttention, cuDNN, xFormers, CK; norms of PyTorch, Apex, Liger; then products of
// cuBLAS, CUTLASS, cuBLASLt (nvjet), DeepGEMM, Tensile (Cijk), cuDNN's convolutions.
constexpr std::array kWords = std::to_array<KernelWord>({
    {"sendrecv", WorkKind::Pipeline}, {"nccl", WorkKind::Data},           {"rccl", WorkKind::Data},        {"flash", WorkKind::Attention},
    {"fmha", WorkKind::Attention},    {"attention", WorkKind::Attention}, {"attn", WorkKind::Attention},   {"sdpa", WorkKind::Attention},
    {"norm", WorkKind::Norm},         {"gammabeta", WorkKind::Norm},      {"gemm", WorkKind::Product},     {"gemv", WorkKind::Product},
    {"cutlass", WorkKind::Product},   {"xmma", WorkKind::Product},        {"wgmma", WorkKind::Product},    {"nvjet", WorkKind::Product},
    {"cijk_", WorkKind::Product},     {"matmul", WorkKind::Product},      {"convolve", WorkKind::Product}, {"dgrad", WorkKind::Product},
    {"wgrad", WorkKind::Product},     {"fprop", WorkKind::Product},
});

// Those that compute a product, an attention or a norm as one, copy or exchange; a backward is named alike, or is products again.
constexpr std::array kOperators = std::to_array<KernelWord>({
    {"aten::mm", WorkKind::Product},
    {"aten::addmm", WorkKind::Product},
    {"aten::bmm", WorkKind::Product},
    {"aten::baddbmm", WorkKind::Product},
    {"aten::mkldnn_linear", WorkKind::Product},
    {"aten::mkldnn_linear_backward", WorkKind::Product},
    {"aten::copy_", WorkKind::Copy},
    {"gloo:send", WorkKind::Pipeline},
    {"gloo:recv", WorkKind::Pipeline},
});

}  // namespace

WorkKind kindOfKernel(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  for (const KernelWord& row : kWords)
    if (lower.find(row.word) != std::string::npos) return row.kind;
  return WorkKind::Kernel;
}

WorkKind kindOfOperator(std::string_view name) {
  for (const KernelWord& row : kOperators)
    if (name == row.word) return row.kind;
  if (name.starts_with("gloo:")) return WorkKind::Data;  // c10d's own operators only hand over to its threads
  if (!name.starts_with("aten::")) return WorkKind::Host;
  if (name.starts_with("aten::_scaled_dot_product")) return WorkKind::Attention;  // not the one without _, which chooses among these
  const bool is_norm = name.starts_with("aten::native_layer_norm") || name.find("rms_norm") != std::string_view::npos;
  return is_norm ? WorkKind::Norm : WorkKind::Kernel;
}

}  // namespace gui
