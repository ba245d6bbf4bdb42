// Which whole documents share a row, of those that rows of one width hold ("fitted", samples_policy.h): the longest first, each into the row that it fills best
// (best fit decreasing). Of drawn lengths for what a step costs, and of a file's for what the worker trains on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sim {

// Row by row the numbers of its documents, whose lengths are at most a row's. Of equally long ones the first come first.
std::vector<std::vector<std::size_t>> fitted_rows(std::span<const std::int64_t> lengths, std::int64_t row);

}  // namespace sim
