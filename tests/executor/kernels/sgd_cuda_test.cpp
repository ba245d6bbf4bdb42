#include "executor/kernels/sgd_cuda.h"

#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"

namespace executor {
namespace {

constexpr std::int64_t kElements = 5003;

template <class Master>
constexpr SgdFactors<Master> factors(Master decay) {
  return {.decay = decay, .momentum = Master(0.9), .learning_rate = Master(3e-3), .gradient_factor = Master(0.37)};
}

template <class Master, class Gradient, class Rounded>
struct State {
  std::vector<Master> master = ramp<Master>({.count = kElements, .stride = 7919, .scale = 0.01}),
                      velocity = ramp<Master>({.count = kElements, .stride = 31, .scale = 0.0007});
  std::vector<Gradient> gradient = ramp<Gradient>({.count = kElements, .stride = 101, .scale = 0.003});
  std::vector<Rounded> rounded = ramp<Rounded>({.count = kElements, .stride = 1, .scale = 1});
};

template <class Master, class Gradient, class Rounded>
void on_cpu(State<Master, Gradient, Rounded>& state, const std::vector<SgdRange<Master>>& ranges) {
  for (const SgdRange<Master>& range : ranges) {
    sgd_loop(SgdSpan<Master, Gradient>{.master = state.master.data() + range.begin,
                                       .gradient = state.gradient.data() + range.begin,
                                       .velocity = state.velocity.data() + range.begin,
                                       .elements = range.end - range.begin},
             factors<Master>(range.decay));
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i)
      store(state.rounded[i], state.master[i]);
  }
}

// From an aligned address.
struct Shifts {
  std::size_t state = 0, gradient = 0;
};

template <class Master, class Gradient, class Rounded>
void on_device(State<Master, Gradient, Rounded>& state, const std::vector<SgdRange<Master>>& ranges, const Shifts& by) {
  DeviceArray<Master> master(state.master, by.state), velocity(state.velocity, by.state);
  DeviceArray<Gradient> gradient(state.gradient, by.gradient);
  DeviceArray<Rounded> rounded(state.rounded, by.state);
  launch_sgd<Master, Gradient, Rounded>({master.data(), gradient.data(), velocity.data(), rounded.data()}, ranges, factors<Master>(0),
                                        nullptr);
  state = {.master = master.values(), .velocity = velocity.values(), .gradient = gradient.values(), .rounded = rounded.values()};
}

// Ranges with gaps, empty, longer than a block's chunk, starting anywhere.
template <class Master>
std::vector<SgdRange<Master>> ranges() {
  return {{0, 64, Master(0.9997)}, {64, 64, Master(0)}, {128, 4221, Master(1)}, {4223, 4230, Master(0.99)}, {4256, kElements, Master(0.9)}};
}

template <class Master, class Gradient, class Rounded>
void expect_equal(const std::vector<SgdRange<Master>>& ranges, const Shifts& shift = {}) {
  State<Master, Gradient, Rounded> expected, is;
  on_cpu(expected, ranges);
  on_device(is, ranges, shift);
  EXPECT_EQ(bytes(is.master), bytes(expected.master));
  EXPECT_EQ(bytes(is.velocity), bytes(expected.velocity));
  EXPECT_EQ(bytes(is.rounded), bytes(expected.rounded));
}

using SgdKernel = Kernels;

TEST_F(SgdKernel, HasTheBitsOfTheLoop) {
  for (const Shifts& shift :
       {Shifts{}, {.state = 1, .gradient = 1}, {.state = 8, .gradient = 8}, {.gradient = 1}}) {  // 1: no 16-byte access is possible
    expect_equal<float, float, float>(ranges<float>(), shift);
    expect_equal<float, float, Bfloat16Bits>(ranges<float>(), shift);
    expect_equal<float, float, Float16Bits>(ranges<float>(), shift);
    expect_equal<float, Bfloat16Bits, Bfloat16Bits>(ranges<float>(), shift);
    expect_equal<float, Float16Bits, Float16Bits>(ranges<float>(), shift);
    expect_equal<double, double, double>(ranges<double>(), shift);
  }
}

TEST_F(SgdKernel, StepsMoreRangesThanOneLaunchHolds) {
  std::vector<SgdRange<float>> many;
  for (std::int64_t i = 0; i < 200; ++i) many.push_back({.begin = i * 24, .end = i * 24 + 17, .decay = 0.001F * static_cast<float>(i)});
  expect_equal<float, Bfloat16Bits, Bfloat16Bits>(many);
}

TEST_F(SgdKernel, MayLeaveNothingRounded) {
  State<float, float, float> state;
  DeviceArray<float> master(state.master), velocity(state.velocity), gradient(state.gradient);
  launch_sgd<float, float, float>({master.data(), gradient.data(), velocity.data(), nullptr}, ranges<float>(), factors<float>(0), nullptr);
  on_cpu(state, ranges<float>());
  EXPECT_EQ(bytes(master.values()), bytes(state.master));
}

}  // namespace
}  // namespace executor
