// The memory of a tensor as numbers, unchecked: for loops whose Number was chosen by the tensor's type. Bfloat16Bits stands for bf16.
#pragma once

#include <ATen/core/Tensor.h>

namespace executor {

template <class Number>
Number* numbers(const at::Tensor& tensor) {
  return static_cast<Number*>(tensor.data_ptr());
}

}  // namespace executor
