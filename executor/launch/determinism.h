// The same bits from run to run on a GPU: `meshwright-worker run --deterministic`, and every parity test there. A CPU needs nothing.
#pragma once

namespace executor {

// Before the first product: cuBLAS reads its workspace's form when it starts. Operators that have another, slower way without atomic sums take it; those
// that have none say so and go on.
void compute_deterministically();

}  // namespace executor
