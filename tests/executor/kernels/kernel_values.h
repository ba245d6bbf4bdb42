// Numbers for the tests of kernels, in every type, and how far two lists of them are apart.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/kernels/sixteen_bits.h"

namespace executor {

template <class Number>
Number rounded(double value) {
  Number number;
  if constexpr (sizeof(Number) == 8)
    number = value;
  else
    store(number, static_cast<float>(value));
  return number;
}

struct Ramp {
  std::int64_t count = 0;
  std::int64_t stride = 7919;  // another one, another order of the same thousand values
  double scale = 0.01;         // values lie between -5.05 and 5.05 at 0.01
};
template <class Number>
std::vector<Number> ramp(Ramp of) {
  std::vector<Number> values;
  for (std::int64_t i = 0; i < of.count; ++i)
    values.push_back(rounded<Number>(of.scale * (static_cast<double>(i * of.stride % 1009) - 504.5)));
  return values;
}

template <class Number>
std::vector<double> widened(const std::vector<Number>& values) {
  std::vector<double> result;
  for (const Number& value : values) result.push_back(load(value));
  return result;
}

// |is - expected| / |expected|, and NaN if there is one in either.
template <class Number>
double relative_error(const std::vector<Number>& is, const std::vector<double>& expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += (load(is.at(i)) - expected[i]) * (load(is.at(i)) - expected[i]);
    norm += expected[i] * expected[i];
  }
  return std::sqrt(difference / norm);
}

// Of a result that was rounded once.
template <class Number>
constexpr double kTolerance = sizeof(Number) == 8   ? 1e-13
                              : sizeof(Number) == 4 ? 2e-6
                                                    : 4e-3;

template <class Number>
std::string bytes(const std::vector<Number>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Number)};
}

}  // namespace executor
