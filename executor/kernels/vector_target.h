// Compiles a loop for the instruction sets of this machine's family and picks one when the program starts. Bits are the same in all of them:
// no contraction, no reassociation (see CMakeLists.txt). For the loops of this room, which know no tensors.
#pragma once

#if defined(__x86_64__)
#define MESHWRIGHT_VECTOR_LOOP __attribute__((target_clones("avx2", "default")))
#else
#define MESHWRIGHT_VECTOR_LOOP
#endif
#define MESHWRIGHT_INLINE inline __attribute__((always_inline))  // into each of the versions
