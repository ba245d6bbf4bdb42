// Softmax of attention's scores with dropout of the probabilities, on a GPU, one kernel each way, over many heads at once. A row of keys lives in the
// registers of a block; what no query sees is neither read nor computed. With P = softmax(scale * S) over the keys in sight, and the mask M of 0 and
// 1 / (1 - probability) that executor/model/dropout.h draws:
//
//   forward    S becomes M P;  P is kept where there is a place for it      (P is rounded before it is dropped: both ways drop the same numbers)
//   backward   G, the gradient of M P, becomes scale * P (M G - rowsum(M G P));  P becomes M P
//
// Numbers are computed in fp32 where they have 16 bits. Sums have an order that depends on the number of keys and on the alignment of the first row.
// Memory traffic an element, of 16 bits: 4 forward, 6 where P is kept; 8 backward; of what is hidden, 2, 4 and 2.
#pragma once

#include <cstdint>

#include "executor/kernels/cuda_stream.h"
#include "executor/kernels/dropout_draw.h"

namespace executor {

struct SoftmaxShape {
  std::int64_t heads = 0, queries = 0, keys = 0;  // matrices [queries, keys], one behind the other; keys: 1 .. kMostKeys
  bool is_causal = true;                          // then query i sees keys 0 .. i, and there are as many of both
  double scale = 1;
};
inline constexpr std::int64_t kMostKeys = 16384;

// Which heads of the global batch these are: matrix i is number first + i of [samples, here], in a model whose heads are [all], of which a rank has
// those from first_head on. draw.first_element is of the first sample's first head.
struct HeadPlaces {
  std::int64_t first = 0, here = 1, all = 1, first_head = 0;
};

template <class Number>
struct SoftmaxForward {
  Number* scores = nullptr;
  Number* probabilities = nullptr;  // null: they are not kept
};
template <class Number>
struct SoftmaxBackward {
  Number* gradient = nullptr;
  Number* probabilities = nullptr;
};

// draw.threshold 0: nothing is dropped. Asynchronous on `stream`; std::invalid_argument for too many keys, std::runtime_error if CUDA refuses the
// launch. Number: float, double, Bfloat16Bits, Float16Bits.
template <class Number>
void launch_masked_softmax(const SoftmaxForward<Number>& of, const SoftmaxShape& shape, const HeadPlaces& places, const DropoutDraw& draw,
                           CudaStream stream);
template <class Number>
void launch_masked_softmax_backward(const SoftmaxBackward<Number>& of, const SoftmaxShape& shape, const HeadPlaces& places,
                                    const DropoutDraw& draw, CudaStream stream);

}  // namespace executor
