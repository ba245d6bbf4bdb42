// The oracle of what crosses links encoded: the same training in one process, which sees every rank's gradients, and encodes and decodes them by itself,
// parameter by parameter. Written apart from executor/training's low_rank_sum and block_sum; samples must not know of each other (no dropout).
#pragma once

#include "tests/parity/training_result.h"

namespace parity {

// In fp64, by SGD without clipping. Losses, norms, gradients (decoded sums) and weights.
TrainingResult train_encoded(const sim::ParallelPlan& plan, std::int64_t steps);

}  // namespace parity
