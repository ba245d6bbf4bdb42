// Strong quantities: bytes, flops and their rates, power and energy, which do not mix with each other or with plain numbers.
// Text with units is in unit_text.h; time is in sim_time.h.
#pragma once

#include <cmath>
#include <compare>
#include <cstdint>

namespace sim {

template <class Unit, class Representation>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(Representation value) : value_(value) {}
  constexpr Representation value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, Representation factor) { return Quantity(a.value_ * factor); }
  friend constexpr Quantity operator*(Representation factor, Quantity a) { return a * factor; }
  friend constexpr Quantity operator/(Quantity a, Representation divisor) { return Quantity(a.value_ / divisor); }
  friend constexpr double operator/(Quantity a, Quantity b) { return static_cast<double>(a.value_) / static_cast<double>(b.value_); }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  Representation value_{};
};

using Bytes = Quantity<struct BytesUnit, std::int64_t>;
using Flops = Quantity<struct FlopsUnit, double>;  // exact below 2^53; a step of a large model exceeds 64-bit integers
using BytesPerSecond = Quantity<struct BytesPerSecondUnit, double>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondUnit, double>;
using Watts = Quantity<struct WattsUnit, double>;
using Joules = Quantity<struct JoulesUnit, double>;

// To the nearest byte.
inline Bytes scaled(Bytes amount, double factor) {
  return factor == 1 ? amount : Bytes(std::llround(static_cast<double>(amount.value()) * factor));
}

}  // namespace sim
