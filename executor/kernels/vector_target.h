// How a loop or a function of this room is compiled: for the instruction sets of this machine's family, one of which is picked when the
// program starts, and, under nvcc, for the GPU too. Bits are the same in all of them: no contraction, no reassociation (see CMakeLists.txt).
// For what knows no tensors.
#pragma once

#if defined(__x86_64__)
#define MESHWRIGHT_VECTOR_LOOP __attribute__((target_clones("avx2", "default")))
#else
#define MESHWRIGHT_VECTOR_LOOP
#endif
#if defined(__CUDACC__)
#define MESHWRIGHT_INLINE __host__ __device__ __forceinline__
#else
#define MESHWRIGHT_INLINE inline __attribute__((always_inline))  // into each of the versions
#endif
