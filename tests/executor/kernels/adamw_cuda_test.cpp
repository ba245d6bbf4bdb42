#include "executor/kernels/adamw_cuda.h"

#include "tests/executor/kernels/device_array.h"
#include "tests/executor/kernels/kernel_values.h"

namespace executor {
namespace {

constexpr std::int64_t kElements = 5003;

template <class Number>
std::vector<Number> squares(std::vector<Number> values) {
  for (Number& value : values) value = value * value;
  return values;
}

template <class Master>
constexpr AdamWFactors<Master> factors(Master keep) {
  return {.keep = keep,
          .beta1 = Master(0.9),
          .one_minus_beta1 = Master(0.1),
          .beta2 = Master(0.95),
          .one_minus_beta2 = Master(0.05),
          .step_size = Master(3e-3),
          .root_correction = Master(4.4721),
          .epsilon = Master(1e-8),
          .gradient_factor = Master(0.37)};
}

template <class Master, class Gradient, class Rounded>
struct State {
  std::vector<Master> master = ramp<Master>({.count = kElements, .stride = 7919, .scale = 0.01}),
                      first = ramp<Master>({.count = kElements, .stride = 31, .scale = 0.0007}),
                      second = squares(ramp<Master>({.count = kElements, .stride = 57, .scale = 0.001}));
  std::vector<Gradient> gradient = ramp<Gradient>({.count = kElements, .stride = 101, .scale = 0.003});
  std::vector<Rounded> rounded = ramp<Rounded>({.count = kElements, .stride = 1, .scale = 1});
};

template <class Master, class Gradient, class Rounded>
void on_cpu(State<Master, Gradient, Rounded>& state, const std::vector<KeepRange<Master>>& ranges) {
  for (const KeepRange<Master>& range : ranges) {
    adamw_loop(AdamWSpan<Master, Gradient>{.master = state.master.data() + range.begin,
                                           .gradient = state.gradient.data() + range.begin,
                                           .first_moment = state.first.data() + range.begin,
                                           .second_moment = state.second.data() + range.begin,
                                           .elements = range.end - range.begin},
               factors<Master>(range.keep));
    for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i)
      store(state.rounded[i], state.master[i]);
  }
}

template <class Master, class Gradient, class Rounded>
void on_device(State<Master, Gradient, Rounded>& state, const std::vector<KeepRange<Master>>& ranges, std::size_t shift) {
  DeviceArray<Master> master(state.master, shift), first(state.first, shift), second(state.second, shift);
  DeviceArray<Gradient> gradient(state.gradient, shift);
  DeviceArray<Rounded> rounded(state.rounded, shift);
  launch_adamw<Master, Gradient, Rounded>({master.data(), gradient.data(), first.data(), second.data(), rounded.data()}, ranges,
                                          factors<Master>(0), nullptr);
  state = {.master = master.values(),
           .first = first.values(),
           .second = second.values(),
           .gradient = gradient.values(),
           .rounded = rounded.values()};
}

// Ranges with gaps, empty, longer than a block's chunk, starting anywhere.
template <class Master>
std::vector<KeepRange<Master>> ranges() {
  return {{0, 64, Master(0.9997)}, {64, 64, Master(0)}, {128, 4221, Master(1)}, {4223, 4230, Master(0.99)}, {4256, kElements, Master(0.9)}};
}

template <class Master, class Gradient, class Rounded>
void expect_equal(const std::vector<KeepRange<Master>>& ranges, std::size_t shift) {
  State<Master, Gradient, Rounded> expected, is;
  on_cpu(expected, ranges);
  on_device(is, ranges, shift);
  EXPECT_EQ(bytes(is.master), bytes(expected.master));
  EXPECT_EQ(bytes(is.first), bytes(expected.first));
  EXPECT_EQ(bytes(is.second), bytes(expected.second));
  EXPECT_EQ(bytes(is.rounded), bytes(expected.rounded));
}

using AdamWKernel = Kernels;

TEST_F(AdamWKernel, HasTheBitsOfTheLoop) {
  for (const std::size_t shift : {0U, 1U, 8U}) {  // 1: no 16-byte access is possible
    expect_equal<float, float, float>(ranges<float>(), shift);
    expect_equal<float, float, Bfloat16Bits>(ranges<float>(), shift);
    expect_equal<float, float, Float16Bits>(ranges<float>(), shift);
    expect_equal<float, Bfloat16Bits, Bfloat16Bits>(ranges<float>(), shift);
    expect_equal<float, Float16Bits, Float16Bits>(ranges<float>(), shift);
    expect_equal<double, double, double>(ranges<double>(), shift);
  }
}

TEST_F(AdamWKernel, StepsMoreRangesThanOneLaunchHolds) {
  std::vector<KeepRange<float>> many;
  for (std::int64_t i = 0; i < 200; ++i)
    many.push_back({.begin = i * 24, .end = i * 24 + 17, .keep = 1.0F - 0.001F * static_cast<float>(i)});
  expect_equal<float, Bfloat16Bits, Bfloat16Bits>(many, 0);
}

TEST_F(AdamWKernel, MayLeaveNothingRounded) {
  State<float, float, float> state;
  DeviceArray<float> master(state.master), first(state.first), second(state.second), gradient(state.gradient);
  launch_adamw<float, float, float>({master.data(), gradient.data(), first.data(), second.data(), nullptr}, ranges<float>(),
                                    factors<float>(0), nullptr);
  on_cpu(state, ranges<float>());
  EXPECT_EQ(bytes(master.values()), bytes(state.master));
}

TEST_F(AdamWKernel, TakesTheFactorFromTheDevice) {
  State<float, float, float> state, before;
  const auto step = [&](double factor) {
    DeviceArray<double> there(std::vector<double>{factor});
    DeviceArray<float> master(state.master), first(state.first), second(state.second), gradient(state.gradient);
    AdamWFactors<float> other = factors<float>(0);
    other.gradient_factor = 77;  // not what is read
    launch_adamw<float, float, float>({master.data(), gradient.data(), first.data(), second.data(), nullptr, there.data()}, ranges<float>(),
                                      other, nullptr);
    state.master = master.values();
    state.second = second.values();
  };
  step(-1);
  EXPECT_EQ(bytes(state.master), bytes(before.master)) << "nothing is stepped";
  EXPECT_EQ(bytes(state.second), bytes(before.second));
  step(0.37);
  on_cpu(before, ranges<float>());
  EXPECT_EQ(bytes(state.master), bytes(before.master));
}

}  // namespace
}  // namespace executor
