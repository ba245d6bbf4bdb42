#include "gui/import/kernel_kind.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

// Names as profilers of PyTorch, cuDNN, Megatron and ROCm write them.
TEST(KernelKind, ByWhatLibrariesCallThem) {
  for (const char* name : {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu>", "ampere_bf16_s16816gemm_bf16_128x64",
                           "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT", "Cijk_Ailk_Bljk_BBS_BH_MT128x128", "cudnn::cnn::wgrad2d_grouped"})
    EXPECT_EQ(kindOfKernel(name), WorkKind::Product) << name;
  for (const char* name : {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits>", "fmha_cutlassF_bf16_aligned_64x64_rf_sm80",
                           "cudnn_generated_fort_native_sdpa_sm90_flash_bprop"})
    EXPECT_EQ(kindOfKernel(name), WorkKind::Attention) << name;
  for (const char* name : {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel", "_rms_norm_backward_kernel",
                           "void cuComputePartGradGammaBeta<float>"})
    EXPECT_EQ(kindOfKernel(name), WorkKind::Norm) << name;
  EXPECT_EQ(kindOfKernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL"), WorkKind::Data);
  EXPECT_EQ(kindOfKernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"), WorkKind::Pipeline);
  EXPECT_EQ(kindOfKernel("void at::native::vectorized_elementwise_kernel<4>"), WorkKind::Kernel);
}

TEST(KernelKind, OperatorsByWhatATenCallsThem) {
  for (const char* name : {"aten::mm", "aten::addmm", "aten::bmm"}) EXPECT_EQ(kindOfOperator(name), WorkKind::Product) << name;
  EXPECT_EQ(kindOfOperator("aten::_scaled_dot_product_flash_attention_for_cpu_backward"), WorkKind::Attention);
  EXPECT_EQ(kindOfOperator("aten::native_layer_norm_backward"), WorkKind::Norm);
  EXPECT_EQ(kindOfOperator("aten::gelu"), WorkKind::Kernel);
  EXPECT_EQ(kindOfOperator("aten::copy_"), WorkKind::Copy);
  EXPECT_EQ(kindOfOperator("gloo:all_reduce"), WorkKind::Data);
  EXPECT_EQ(kindOfOperator("gloo:send"), WorkKind::Pipeline);
  for (const char* name :
       {"ProfilerStep#2", "Optimizer.step#AdamW.step", "AddmmBackward0", "autograd::engine::evaluate_function: AddmmBackward0"})
    EXPECT_EQ(kindOfOperator(name), WorkKind::Host) << name;
}

}  // namespace
}  // namespace gui
