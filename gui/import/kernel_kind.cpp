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

}  // namespace

WorkKind kindOfKernel(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  for (const KernelWord& row : kWords)
    if (lower.find(row.word) != std::string::npos) return row.kind;
  return WorkKind::Kernel;
}

}  // namespace gui
