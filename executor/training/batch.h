// The tokens of one step on one data rank, cut into microbatches.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "executor/model/documents.h"
#include "executor/model/token_stretches.h"
#include "sim/units/index.h"

namespace executor {

struct StepBatch {
  std::int64_t step = 0;          // names the dropout masks
  std::int64_t first_sample = 0;  // this data rank's first sample in the global batch
  at::Tensor ids, targets;        // int64 [microbatches, tokens of one]
  at::Tensor images = {};         // of a convolutional network: [microbatches, samples, channels, size, size]; targets are their labels
  // Where rows hold documents, by microbatch: those, and the tokens [n] that predict nothing, as others do than masked ones. tokens_with_loss: of the
  // whole global batch; 0: all.
  std::vector<Documents> documents = {};
  std::vector<at::Tensor> without_loss = {};
  std::int64_t tokens_with_loss = 0;
  std::vector<TokenStretches> places =
      {};  // by microbatch, where documents change places (document_order.h): of this rank's tokens, as the file has them
};

}  // namespace executor
