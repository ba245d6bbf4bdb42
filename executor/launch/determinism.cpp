#include "executor/launch/determinism.h"

#include <ATen/Context.h>

#include <cstdlib>

namespace executor {

void compute_deterministically() {
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", /*overwrite=*/0);
  at::globalContext().setDeterministicAlgorithms(/*enabled=*/true, /*warn_only=*/true);
  at::globalContext().setDeterministicFillUninitializedMemory(false);  // what is read before it is written is a bug, found elsewhere
}

}  // namespace executor
