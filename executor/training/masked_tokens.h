// Masked language modelling (Devlin et al. 2018), of networks whose attention looks ahead: which positions of a sample are predicted, and what stands
// there instead. Counter-based: a function of the seed and of the sample's number in the run, the same under every layout.
//
//   tokens    a b c d e f        0.15 of the positions, at least one, as many in each sample
//   ids       a b x d e f        there any token of the vocabulary: a config.json names no token of masks (Devlin: in 0.8 of the cases that)
//   targets   . . c . . .        the others predict nothing, and are no part of the mean
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "sim/plan/parallel_plan.h"

namespace executor {

bool predicts_masked_tokens(const sim::ModelConfig& config);
std::int64_t num_masked(std::int64_t sequence);  // positions of a sample

struct NumberedSample {
  std::uint64_t seed = 0;
  std::int64_t number = 0;  // of the run, counted from 0
};
std::vector<std::int64_t> masked_positions(const NumberedSample& sample, std::int64_t sequence);  // ascending

// ids: a sample's tokens, which are replaced where they are masked.
void mask_tokens(std::span<std::int64_t> ids, const NumberedSample& sample, std::int64_t vocabulary);

// Positions [n] int64 of a microbatch's tokens that predict nothing: of samples that follow each other, so many from the first one on.
struct MaskedRows {
  NumberedSample first;
  std::int64_t samples = 1, sequence = 1;
};
at::Tensor without_mask(const MaskedRows& rows);

}  // namespace executor
