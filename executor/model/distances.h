// Biases of scores by the distance between a query and a key (Raffel et al. 2020, section 2.1): which of a table's columns is whose. Near distances have one
// each, far ones share: half of the columns grow with the logarithm up to `farthest`, from where on all have the last one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace executor {

struct DistanceForm {
  std::int64_t buckets = 32, farthest = 128;  // columns; distance in tokens
  bool both_ways = false;                     // half of the columns are of keys behind the query
};

// int64 [sequence, sequence], of query and key: the column of their bias.
at::Tensor distance_buckets(const DistanceForm& form, std::int64_t sequence, c10::Device device);

}  // namespace executor
