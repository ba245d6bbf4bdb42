// A frozen matrix in fewer bits than its products have (sim/model/packed_bytes.h says how it lies): made once, read for each use, never stepped.
//
//   nf4    a block of 64, by its largest, to the nearest of 16 numbers; the largest of all blocks, less their mean, likewise in 8 bit by 256
//   int8   a row, by its largest / 127, to the nearest whole number
//
// What is made of the whole weight is the same under every layout, and so are the numbers that come back. A block of zeros comes back as zeros.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "executor/model/tensor_part.h"
#include "sim/model/packed_bytes.h"

namespace executor {

class PackedWeight {
 public:
  // numbers: the type of what comes back.
  PackedWeight(sim::BaseFormat format, const sim::Parameter& parameter, TensorPosition tensor, at::ScalarType numbers);

  // whole: all elements of the parameter, row after row, on the host. -> uint8 [packed_bytes], of this tensor rank's part.
  at::Tensor pack(const at::Tensor& whole) const;
  at::Tensor unpack(const at::Tensor& packed) const;  // -> [rows, columns] of that part, where `packed` is
  // uint8, a block each: views of the first piece's (nf4), for who looks at them.
  at::Tensor block_scales(const at::Tensor& packed) const;

 private:
  sim::BaseFormat format_;
  std::vector<sim::PackedPiece> pieces_;
  TensorPosition tensor_;
  at::ScalarType numbers_;
};

}  // namespace executor
