// What a segment keeps from its forward to its backward, and what it needs on the way, as numbers.
#pragma once

#include <string_view>
#include <vector>

#include "sim/plan/parallel_plan.h"

namespace sim {

// A tensor, or several of one maker, that backward reads.
struct Kept {
  std::string_view tensor;  // "normalized"
  Bytes bytes{};
  Modules modules{};    // that make it again instead
  double by_op = 1;     // share of it that `op` makes again: of products every second one (counted in a block of torch's, tests/oracles)
  bool inside = false;  // made by the middle one of three parts, between which another action may run
  Modules saved_by{};   // which send it to the host where the plan has them do that
};

// Share of a module's products that recomputation by operators makes again.
inline constexpr double kEverySecond = 0.5;

struct SegmentMemory {
  Bytes stream{};              // its output: the next segment's input, kept by whoever reads it
  Bytes statistics{};          // of its norm: kept until the norm's backward
  std::vector<Kept> tensors;   // else, from forward to backward, without input and output
  Bytes kept{};                // of them, what is not made again
  Bytes unread{};              // of it, what no backward reads: gone when the whole block's is done
  Bytes dropped{};             // made again by the backward of the same part, and there while it runs
  Bytes on_host{};             // of it and of the input: what modules send to the host (sim/task_graph/host_inputs.h)
  Bytes of_norm{};             // of what is kept: what the norm put out, as the core reads it
  Bytes entering{};            // what a core that is recomputed as a module starts from: of sequence parallelism this rank's part
  Bytes normalized{};          // gradient that the core hands to the norm, where they are two tasks (T > 1)
  Bytes regathered{};          // of its input, while its core computes: gathered by sequence parallelism, and again in backward
  Bytes forward_temporary{};   // most that its core's forward has alive beyond what it makes
  Bytes backward_temporary{};  // most that its backward has alive beyond what it found
  // Of a core in three parts (attention over context ranks, experts), around the middle one: what exchanges fill and what is joined; gradients of
  // what the middle puts out and of what it reads.
  Bytes exchanged{}, exchanged_back{}, output_gradient{}, input_gradients{};
  Bytes middle_temporary{};  // most that the middle's backward has alive beyond these
  Bytes inside{};            // of what is kept, what the middle makes, where another microbatch runs between the parts
  Bytes cached_gradient{};   // of a slice's keys and values: from the backward of its sample's last slice to its own
  Bytes weight_product{};    // of the largest weight, where gradients are wider than the products
  // Where the schedule splits the backward pass, of linear layers from Backward to Weight: inputs (they are in `kept`), output gradients.
  Bytes weight_inputs{}, output_gradients{};

  void keep(const Kept& tensor) {
    if (tensor.bytes.value() != 0) tensors.push_back(tensor);
  }
  // What the norm in front put out, where the first product's input is kept.
  void keep_normalized(Bytes put_out, bool keeps_first) {
    entering = stream - (keeps_first ? put_out : Bytes{});
    if (keeps_first)
      keep({.tensor = "normalized", .bytes = put_out, .modules = Module::LayerNorm | Module::Op, .saved_by = Module::QkvProduct});
  }
};

}  // namespace sim
