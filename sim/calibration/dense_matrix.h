// Cholesky's factor of a symmetric positive matrix of any size, row by row, and what is solved with it.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace sim {

class DenseCholesky {
 public:
  using Vector = std::vector<double>;

  DenseCholesky(const Vector& matrix, std::size_t size) : size_(size), lower_(size * size) {
    for (std::size_t row = 0; row < size; ++row)
      for (std::size_t column = 0; column <= row; ++column) {
        double sum = matrix[row * size + column];
        for (std::size_t k = 0; k < column; ++k) sum -= lower_[row * size_ + k] * lower_[column * size_ + k];
        lower_[row * size_ + column] = row == column ? std::sqrt(sum) : sum / lower_[column * size_ + column];
      }
  }

  Vector solve(Vector right) const {
    for (std::size_t row = 0; row < size_; ++row) {
      for (std::size_t k = 0; k < row; ++k) right[row] -= lower_[row * size_ + k] * right[k];
      right[row] /= lower_[row * size_ + row];
    }
    for (std::size_t row = size_; row-- > 0;) {
      for (std::size_t k = row + 1; k < size_; ++k) right[row] -= lower_[k * size_ + row] * right[k];
      right[row] /= lower_[row * size_ + row];
    }
    return right;
  }

  double log_determinant() const {
    double sum = 0;
    for (std::size_t at = 0; at < size_; ++at) sum += 2 * std::log(lower_[at * size_ + at]);
    return sum;
  }

 private:
  std::size_t size_;
  Vector lower_;
};

}  // namespace sim
