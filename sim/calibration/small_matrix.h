// Cholesky's factor of a small symmetric positive matrix, and what is solved with it.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace sim {

template <std::size_t N>
class SmallCholesky {
 public:
  using Vector = std::array<double, N>;
  using Matrix = std::array<Vector, N>;

  explicit SmallCholesky(const Matrix& matrix) {
    for (std::size_t row = 0; row < N; ++row)
      for (std::size_t column = 0; column <= row; ++column) {
        double sum = matrix[row][column];
        for (std::size_t k = 0; k < column; ++k) sum -= lower_[row][k] * lower_[column][k];
        lower_[row][column] = row == column ? std::sqrt(sum) : sum / lower_[column][column];
      }
  }

  Vector solve(Vector right) const {
    for (std::size_t row = 0; row < N; ++row) {
      for (std::size_t k = 0; k < row; ++k) right[row] -= lower_[row][k] * right[k];
      right[row] /= lower_[row][row];
    }
    for (std::size_t row = N; row-- > 0;) {
      for (std::size_t k = row + 1; k < N; ++k) right[row] -= lower_[k][row] * right[k];
      right[row] /= lower_[row][row];
    }
    return right;
  }

  Matrix inverse() const {
    Matrix result{};
    for (std::size_t column = 0; column < N; ++column) {
      Vector unit{};
      unit[column] = 1;
      result[column] = solve(unit);
    }
    return result;
  }

  double log_determinant() const {
    double sum = 0;
    for (std::size_t at = 0; at < N; ++at) sum += 2 * std::log(lower_[at][at]);
    return sum;
  }

 private:
  Matrix lower_{};
};

}  // namespace sim
