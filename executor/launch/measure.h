// Times every kernel of sim/cluster/hardware_profile.h on this machine, with the code that a run uses, all ranks of the job at the same
// time: prices for plans with as many ranks. `meshwright-worker measure` calls it. Judges nothing and fits nothing.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/communication/mesh_communicators.h"
#include "sim/cluster/hardware_profile.h"
#include "sim/units/told.h"

namespace executor {

// Which shapes are measured: those of small models on a CPU, those that fill a GPU.
struct MeasuredShapes {
  using Sizes = std::vector<std::int64_t>;
  Sizes tokens, widths;                // of products in the main precision
  Sizes coarse_tokens, coarse_widths;  // in the other one: what does not multiply takes the shape of the main one's curve
  Sizes sequences, head_dims;          // of attention
  Sizes coarse_sequences, coarse_head_dims;
  std::vector<std::pair<std::int64_t, std::int64_t>> batches_heads;
  std::int64_t factor = 1;  // tokens and widths of the rest of a layer, and flat buffers, are so much larger
};
const MeasuredShapes& measured_shapes(c10::Device device);

struct MeasureOptions {
  sim::Seconds each{2.5e-3};   // how long one kernel of one shape is repeated at least, after warming up
  sim::Flops largest{0.35e9};  // shapes with more work than this are left out
  c10::Device device = c10::kCPU;
  sim::Told told{};  // of each kernel and shape that is timed
  at::TensorOptions of(at::ScalarType type) const { return at::TensorOptions().dtype(type).device(device); }
};

// The mesh whose groups are measured: all ranks, and pairs of neighbors when there are more than two.
sim::DeviceMesh measuring_mesh(std::int32_t ranks);

// Collective. Times are medians over repeats (means where ranks outnumber cores: a median would not see that they take turns), then the
// median over ranks; the same on every rank.
std::vector<sim::MeasuredKernel> measure_kernels(MeshCommunicators& mesh, const MeasureOptions& options = {});

// Collective: the points above, and what describes the machine itself.
sim::HardwareProfile measure_machine(Transport transport, const MeasureOptions& options = {});

// measure_machine(), written as JSON by rank 0, which says how far it is beside (sim/units/told.h).
void measure_to_file(Transport transport, const std::string& path, const MeasureOptions& options = {});

}  // namespace executor
