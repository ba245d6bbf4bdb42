// Time of single kernels on one device: matrix products by tiles and waves, attention by its kernel, everything else by bytes.
// Knows shapes only, neither layers nor plans.
#pragma once

#include "sim/clock/device.h"
#include "sim/cluster/software_stack.h"
#include "sim/model/expert_form.h"
#include "sim/model/linear_form.h"
#include "sim/model/sparse_form.h"

namespace sim {

// Device time, and how many kernels the host has to issue for it.
struct Work {
  double device = 0;  // seconds
  double kernels = 0;
  double uncaptured = 0;  // of those: of shapes that are known when they are issued alone, so that no graph of a block holds them
  Work& operator+=(const Work& other) {
    device += other.device;
    kernels += other.kernels;
    uncaptured += other.uncaptured;
    return *this;
  }
  friend Work operator+(Work a, const Work& b) { return a += b; }
  friend Work operator*(double times, Work a) { return {times * a.device, times * a.kernels, times * a.uncaptured}; }
};

struct KernelCount {
  KernelCount(double count) : value(count) {}
  double value;
};
struct Convolution {
  double inputs = 0, outputs = 0, height = 1, width = 1, stride = 1, size = 1, groups = 1;  // size: height = width of the output
  double area() const { return height * width; }
  double weights() const { return inputs / groups * outputs * area(); }
};
enum class Gradient : std::uint8_t { None, Input, Weight };  // which of a convolution's three products
struct MatrixShape {
  double rows = 0, columns = 0, inner = 0, batch = 1;
  double weight_casts = 1;                           // in fp8: how often the operand of the columns is cast for one use of it
  double row_casts = 1;                              // that of the rows: less than once where its parts were cast on other ranks
  bool rows_across = false, columns_across = false;  // in memory neighbors of that operand are not those of the inner dimension
};
struct AttentionShape {
  double batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1;  // keys: mean number that a query sees
  double key_dim = 128, value_dim = 128;
  bool causal = true;
  double merged = 0;  // rows of partial results that are added up, where a ring brings the keys block by block
};

class KernelClock {
 public:
  KernelClock(const Device& device, const SoftwareStack& stack, const KernelSetting& setting)
      : device_(device), stack_(stack), setting_(setting) {}

  Work product(const MatrixShape& shape) const { return product(shape, setting_.format); }
  Work half_product(const MatrixShape& shape) const;  // stays out of fp8: attention, output head
  // `batch` products of experts; issued one by one where each has as many rows as it happens to get.
  Work grouped(const MatrixShape& shape, ExpertDispatch dispatch, double cast_operands = 0) const;
  Work bytes(double bytes, KernelCount kernels = 1) const;
  Work flash(const AttentionShape& shape, bool backward) const;
  Work unfused(const AttentionShape& shape, bool backward) const;
  Work scan(const Scan& scan, bool backward) const;                // of linear attention
  Work sparse(const SparseAttention& shape, bool backward) const;  // to chosen tokens
  Work index(const IndexScores& shape, bool backward) const;       // by which they are chosen
  Work convolution(const Convolution& shape, double batch, Gradient gradient) const;
  const KernelTraits& traits() const { return device_.kernels; }
  const Behavior& behavior() const { return device_.behavior; }
  double element() const;  // bytes of an activation
  double stream_rate() const;
  double product_rate() const;  // flops a second of a large product in 16 bit

 private:
  struct ScorePasses {
    double forward, backward;
  };
  ScorePasses score_passes() const;
  Work selective_scan(const Scan& scan, bool backward, double streaming) const;  // streaming: how long its bytes take
  Work product(const MatrixShape& shape, NumberFormat format) const;
  double matrix_share(NumberFormat format) const;
  double tile_time(const MatrixShape& shape, NumberFormat format) const;
  double casts(const MatrixShape& shape) const;  // seconds, of both operands, for one number of the inner dimension
  double convolution_gain(const Convolution& shape, Gradient gradient) const;
  double grouped_time(const Convolution& shape, double outputs) const;
  Work turned_maps(double numbers) const;
  double flash_share() const;
  double exponentials_waited_for(const AttentionShape& shape) const;  // seconds of a forward pass
  Work merging(const AttentionShape& shape, bool backward) const;

  const Device& device_;
  const SoftwareStack& stack_;
  const KernelSetting& setting_;
};

}  // namespace sim
