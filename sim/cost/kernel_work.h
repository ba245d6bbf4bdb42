// What a kernel of the hardware profile has to do: floating point operations and bytes, by its shape.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "sim/cluster/hardware_profile.h"
#include "sim/model/linear_form.h"
#include "sim/model/sparse_form.h"
#include "sim/units/quantity.h"

namespace sim {

struct Operator;
using KernelShape = std::array<std::int64_t, 6>;

// `share` of one run of a kernel: HeadExponentials, for one, is a part of a cross-entropy. Of attention: the share of its queries.
struct KernelCall {
  Kernel kernel{};
  KernelShape shape{};  // as Kernel says; unused entries are 0
  double share = 1.0;
  // Of products: stays out of 8 bit, as heads and routers do; reads rows that tensor ranks have gathered, each of which may have cast its part.
  bool unscaled = false, gathered_rows = false;
  std::optional<Precision> wide = {};  // of a router: what it multiplies in, where that is wider than what it reads
  double unscaled_share = 0;           // of a joint product that else is scaled: of what it puts out
  bool adds_bias = false;              // of experts: behind it a bias is added to what each expert puts out
  bool reruns_module = false;          // the first of those that a module recomputed by its name runs again
  std::int64_t adapted = 0;  // the first of two products beside a frozen one: so many frozen products that a module of adapters wraps
  // Of a convolution, which is the product of its implicit matrix: the operator, and what it moves; that product would read each place `area` times.
  const Operator* convolution = nullptr;
  Bytes moved{};
};

struct KernelWork {
  Flops flops{};
  Bytes bytes{};
};

enum class KernelFamily : std::uint8_t { MatrixProduct, FusedAttention, Scan, Sparse, Index, MemoryBound };
KernelFamily family_of(Kernel kernel);
bool is_backward_scan(Kernel kernel);
Scan scan_of(Kernel kernel, std::span<const std::int64_t> shape);  // of that family
SparseAttention sparse_of(std::span<const std::int64_t> shape);
IndexScores scores_of(std::span<const std::int64_t> shape);

KernelWork kernel_work(Kernel kernel, std::span<const std::int64_t> shape, Precision precision);

}  // namespace sim
