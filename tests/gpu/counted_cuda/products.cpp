// cuBLAS in the same way: a product is counted.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstdlib>

#include "tests/gpu/counted_cuda/counts.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

cublasStatus_t product() {
  count("product");
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

EXPORT cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = static_cast<cublasHandle_t>(std::malloc(sizeof(void*)));
  return CUBLAS_STATUS_SUCCESS;
}
EXPORT cublasStatus_t cublasDestroy_v2(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
EXPORT cublasStatus_t cublasSetStream_v2(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
EXPORT cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, std::size_t) { return CUBLAS_STATUS_SUCCESS; }
EXPORT cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
EXPORT cublasStatus_t cublasGetMathMode(cublasHandle_t, cublasMath_t* mode) {
  *mode = CUBLAS_DEFAULT_MATH;
  return CUBLAS_STATUS_SUCCESS;
}
EXPORT cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t, cublasPointerMode_t) { return CUBLAS_STATUS_SUCCESS; }
EXPORT cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t, cublasPointerMode_t* mode) {
  *mode = CUBLAS_POINTER_MODE_HOST;
  return CUBLAS_STATUS_SUCCESS;
}
EXPORT cublasStatus_t cublasSgemm_v2(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const float*, const float*, int,
                                     const float*, int, const float*, float*, int) {
  return product();
}
EXPORT cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const float*,
                                                const float*, int, long long, const float*, int, long long, const float*, float*, int,
                                                long long, int) {
  return product();
}
EXPORT cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*, const void*,
                                   cudaDataType, int, const void*, cudaDataType, int, const void*, void*, cudaDataType, int,
                                   cublasComputeType_t, cublasGemmAlgo_t) {
  return product();
}
EXPORT cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                                                 const void*, cudaDataType, int, long long, const void*, cudaDataType, int, long long,
                                                 const void*, void*, cudaDataType, int, long long, int, cublasComputeType_t,
                                                 cublasGemmAlgo_t) {
  return product();
}
EXPORT cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*, cublasLtMatrixLayout_t, const void*,
                                     cublasLtMatrixLayout_t, const void*, const void*, cublasLtMatrixLayout_t, void*,
                                     cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*, void*, std::size_t, cudaStream_t) {
  return product();
}
EXPORT cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                     cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int,
                                                     cublasLtMatmulHeuristicResult_t* found, int* number) {
  *found = {};
  found->state = CUBLAS_STATUS_SUCCESS;
  *number = 1;
  return CUBLAS_STATUS_SUCCESS;
}
