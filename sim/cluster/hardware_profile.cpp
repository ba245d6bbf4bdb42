#include "sim/cluster/hardware_profile.h"

namespace sim {

Bytes bytes_per_element(Precision precision) {
  switch (precision) {
    case Precision::Fp64: return Bytes(8);
    case Precision::Fp32:
    case Precision::Tf32: return Bytes(4);  // TF32 is how products are computed; the numbers are stored as fp32
    case Precision::Bf16:
    case Precision::Fp16: return Bytes(2);
  }
  return Bytes(0);
}

std::size_t shape_size(Kernel kernel) {
  switch (kernel) {
    case Kernel::LinearForward:
    case Kernel::LinearInputGradient:
    case Kernel::LinearWeightGradient: return 3;
    case Kernel::AttentionForward:
    case Kernel::AttentionBackward: return 4;
    case Kernel::AdamW:
    case Kernel::Sgd:
    case Kernel::SquaredNorm:
    case Kernel::Copy: return 1;
    case Kernel::OperatorCall:
    case Kernel::AutogradCall: return 0;
    default: return 2;  // tokens and a width; payload and ranks
  }
}

}  // namespace sim
