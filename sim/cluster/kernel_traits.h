// How kernels and collectives behave on a device, beyond its data sheet: block "kernels" of a hardware profile, with one source for all of it.
// What rows of published runs say (block "fitted") is merged in. A profile without the block: a plain roofline, or these defaults and a wider interval.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/units/json_fwd.h"
#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace sim {

struct KernelTraits {
  std::string source;
  std::int32_t multiprocessors = 108;
  FlopsPerSecond fp8_peak{};      // zero: no such unit
  FlopsPerSecond fp4_peak{};      // zero: none, and none that takes scales of blocks
  double matrix_share = 0.72;     // of the peak, in the inner loop of a large training product
  double newer_matrix_share = 0;  // the same by libraries of CUDA 13; 0: not measured, as before
  double fp8_share = 0.62;
  double fp4_share = 0;                             // 0: as fp8_share
  double rowwise_share = 1;                         // of the rate in 8 bit, of products with a scale a row
  double single_share = 0.8;                        // of the fp32 peak
  bool reads_either_way = false;                    // products in 8 bit read an operand along either dimension: no transposed copy of it
  double tile128_share = 0.9, tile64_share = 0.75;  // of that, with smaller tiles
  double inner_fill = 130;    // elements of the inner dimension, 16 bit, in whose time the pipeline is filled and emptied
  double smooth_waves = 0.6;  // 1: no wave quantization; 0: whole waves
  double flash1_share = 0.28, flash2_share = 0.55, flash3_share = 0.55, cudnn_share = 0.5;  // long sequences, forward and backward
  double convolution_share = 0.8;                                                           // of what matrix products reach
  BytesPerSecond host_memory{25e9}, host_link{20e9}, drive{0.8e9};  // of a node, the share of one GPU; inferred from usual servers
  double loader_workers = 8;                                        // processes of a GPU that prepare its input on the host
  Seconds collective_start{15e-6};                                  // of one call
  Seconds collective_fill{60e-6};                                   // until long messages run at full rate
  double all_reduce_gain = 1.0;                                     // sums inside the switch
  std::vector<BytesPerSecond> mesh_rates;  // a rank's all-reduce bandwidth in groups of 2, 3 ... on a node without switch
  double network_share = 0.8;              // of the sold rate between nodes
  double interval = 0.25;                  // added where nothing was measured on this part
  Bytes product_workspace{
      std::int64_t{4} << 20};  // scratch that libraries give a product: more from compute capability 9 on (TransformerEngine)
};

// Of a whole hardware profile: its blocks "kernels" and "fitted". Throws InputError.
KernelTraits kernel_traits_from_json(const Json& profile, const std::string& file);
Json to_json(const KernelTraits& traits);  // the block "kernels"

}  // namespace sim
