// What attention makes of the products of queries and keys before it sums values: scale, cap, what is in sight of a query, what is added to a score.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "executor/model/documents.h"
#include "executor/model/leaf.h"

namespace executor {

struct ScoreForm {
  std::int64_t heads = 1;       // of the whole model
  std::int64_t first_head = 0;  // this tensor rank's
  bool keeps_scores = true;     // dropped P is kept for the backward; else computed again there (selective recomputation)
  bool is_again = false;        // the fused kernel keeps its operands alone, and runs once more in the backward
  bool is_causal = true;
  std::int64_t window = 0;      // keys in sight of a query, its own included; 0: all
  double scale = 0;             // scores are divided by its root; 0: the width of a key
  double cap = 0;               // 0: none
  at::Tensor slopes = {};       // ALiBi (Press et al. 2022): [heads here], or no tensor
  Leaf sinks = {};              // [heads]: a score beside those of keys, which gives nothing; or no tensors
  std::int64_t first_sink = 0;  // of the first head here: context ranks deal out the heads of a tensor rank
  Leaf distances = {};          // [heads here, columns]: biases by distance, or no tensors; which column, [queries, keys] (distances.h):
  at::Tensor columns = {};
  Documents documents = {};  // of the samples: a query sees keys of its own alone. By our own loop: see document_attention.h

  std::int64_t reach() const {
    return is_causal ? window : (window + 1) / 2;
  }  // of a window: keys in sight on one side, the own one included
  bool sees_all_behind(std::int64_t sequence) const { return window == 0 || reach() >= sequence; }
  bool knows_kernel(std::int64_t sequence) const;     // scores as the fused kernel makes them
  at::Tensor capped(const at::Tensor& scores) const;  // in their place
  void through_cap(const at::Tensor& slope,
                   const at::Tensor& of_capped) const;  // of S' to that of S; overwrites both, of_capped: S' of a cap
  at::Tensor dealt_sinks(const at::Tensor& all, std::int64_t count) const { return all.narrow(0, first_sink, count); }  // of the heads here
};

}  // namespace executor
