// A CUDA stream by name only: launch functions are declared, and called, without CUDA's headers. Equal to cudaStream_t; null is the default stream.
#pragma once

struct CUstream_st;

namespace executor {

using CudaStream = CUstream_st*;

}  // namespace executor
