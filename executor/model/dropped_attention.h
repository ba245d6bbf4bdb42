// Attention with dropout of the probabilities on a device that is no CPU: all heads of a part of the scores at once, a part being what fits into some
// memory. Each way two products before and two or three behind one pass over the scores (executor/kernels/masked_softmax_cuda.h; by LibTorch's operators
// where there is no kernel). The same mask as head by head, under every layout.
#pragma once

#include "executor/model/dropout.h"
#include "executor/model/heads.h"
#include "executor/model/score_form.h"
#include "sim/plan/scores_at_once.h"

namespace executor {

// Scores as the softmax makes them, of documents that fill their samples.
bool attends_dropped(const HeadOperands& operands, const ScoreForm& form, const Dropout& dropout);

// As attend_heads(). Keys that queries share are not repeated.
struct ScoresAtOnce {
  sim::Bytes most = sim::kScoresAtOnce;
};
at::Tensor attend_dropped(const HeadOperands& operands, const ScoreForm& form, const Dropout& dropout, ScoresAtOnce at_once = {});

}  // namespace executor
