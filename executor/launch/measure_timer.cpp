#include "executor/launch/measure_timer.h"

#include <ATen/ops/full.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn_like.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "sim/units/at.h"

namespace executor {
namespace {

constexpr std::size_t kFewest = 4, kMost = 400;
constexpr std::int32_t kChain = 33;

constexpr int kAtOnceOnAGpu = 16;
constexpr double kLongBesideALaunch = 1e-3;  // seconds: of so many calls together the host's part, some microseconds, is not seen

double host_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

sim::Seconds at_least(sim::Seconds floor, sim::Seconds time) { return std::max(floor, time); }

}  // namespace

KernelTimer::KernelTimer(MeshCommunicators& mesh, const MeasureOptions& options, Pass pass)
    : mesh_(mesh),
      options_(options),
      pass_(pass),
      takes_turns_(options.device.is_cpu() && mesh.mesh().ranks() > sysconf(_SC_NPROCESSORS_ONLN)),
      at_once_(options.device.is_cpu() ? 1 : kAtOnceOnAGpu) {}

bool KernelTimer::begin() {
  if (all_ > 0 && options_.told) options_.told({.done = timed_, .all = all_});
  ++timed_;
  return pass_ == Pass::Times;
}

double KernelTimer::now() const {
  if (!options_.device.is_cpu()) c10::impl::VirtualGuardImpl(options_.device.type()).synchronizeDevice(options_.device.index());
  return host_seconds();
}

int KernelTimer::calls_at_once(const Action& one) const {
  if (at_once_ == 1) return 1;
  const double begin = now();
  one();
  const double seconds = now() - begin;
  return seconds * at_once_ > kLongBesideALaunch ? 1 + static_cast<int>(kLongBesideALaunch / seconds) : at_once_;
}

bool KernelTimer::enough(const std::vector<double>& seconds, double spent) const {
  return seconds.size() >= kMost || (seconds.size() >= kFewest && spent >= options_.each.count());
}

sim::Seconds KernelTimer::typical(std::vector<double>& seconds) const {
  if (takes_turns_) return sim::Seconds(std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size()));
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  return sim::Seconds(*middle);
}

sim::Seconds KernelTimer::time(const Action& action) {
  if (!begin()) return {};
  action();  // first touch of its memory, and the library's own set-up
  mesh_.of(sim::MeshAxis::World).barrier();
  std::vector<double> seconds;
  const int calls = calls_at_once(action);
  const double start = now();
  do {
    const double begin = now();
    for (int call = 0; call < calls; ++call) action();
    seconds.push_back((now() - begin) / calls);
  } while (!enough(seconds, now() - start));
  return typical(seconds);
}

RecordedTime KernelTimer::time_recorded(const at::Tensor& input, const Piece::Function& function) {
  if (!begin()) return {};
  Piece piece;
  const at::Tensor gradient = at::randn_like(piece.forward(input, function));  // of a product an operand: equal numbers flatter
  piece.backward(gradient);
  mesh_.of(sim::MeshAxis::World).barrier();
  std::vector<double> forward, backward;
  std::vector<Piece> pieces(sim::count_of(calls_at_once([&] {
    piece.forward(input, function);
    piece.backward(gradient);
  })));
  const double start = now();
  const auto calls = static_cast<double>(pieces.size());
  do {
    const double begin = now();
    for (Piece& each : pieces) each.forward(input, function);
    const double middle = now();
    for (Piece& each : pieces) each.backward(gradient);
    backward.push_back((now() - middle) / calls);
    forward.push_back((middle - begin) / calls);
  } while (!enough(forward, now() - start));
  return {.forward = typical(forward), .backward = typical(backward)};
}

sim::Seconds KernelTimer::time_together(const Action& action, Repeats repeats) {
  if (!begin()) return {};
  constexpr int kRounds = 5;
  action();
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    mesh_.of(sim::MeshAxis::World).barrier();
    const double begin = now();
    for (std::int32_t i = 0; i < repeats.value; ++i) action();
    rounds.push_back((now() - begin) / repeats.value);
  }
  return typical(rounds);
}

sim::Seconds KernelTimer::time_after_work(const Action& action, Repeats repeats) {
  if (!begin()) return {};
  const at::Tensor left = at::full({512, 256}, 0.01, of(at::kFloat)), right = at::full({256, 512}, 0.01, of(at::kFloat));  // about 2 ms
  std::vector<double> seconds;
  action();
  mesh_.of(sim::MeshAxis::World).barrier();
  for (std::int32_t i = 0; i < repeats.value; ++i) {
    at::mm(left, right);
    const double begin = now();
    action();
    seconds.push_back(now() - begin);
  }
  std::sort(seconds.begin(), seconds.end());
  seconds.resize(std::max<std::size_t>(1, seconds.size() * 9 / 10));
  return sim::Seconds(std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size()));
}

sim::Seconds CallTimes::at_least_half(sim::Seconds difference) const { return std::max({plain / 2, difference, sim::Seconds(1e-9)}); }

sim::Seconds CallTimes::forward_kernel(sim::Seconds measured) const { return at_least_half(measured - piece.forward - (recorded - plain)); }

sim::Seconds CallTimes::backward_kernel(sim::Seconds measured) const {
  return at_least_half(measured - piece.backward - (backward - plain));
}

CallTimes time_calls(KernelTimer& timer) {
  const at::Tensor element = at::full({1, 1}, 0.5, timer.of(at::kFloat));
  CallTimes calls;
  {
    const c10::AutoGradMode do_not_record(false);
    calls.plain = timer.time([&] { at::gelu(element); });
  }
  const auto one = timer.time_recorded(element, [](const at::Tensor& x) { return at::gelu(x); });
  const auto chain = timer.time_recorded(element, [](const at::Tensor& x) {
    at::Tensor y = at::gelu(x);
    for (std::int32_t i = 1; i < kChain; ++i) y = at::gelu(y);
    return y;
  });
  calls.recorded = at_least(calls.plain, (chain.forward - one.forward) / (kChain - 1));
  calls.backward = at_least(calls.plain, (chain.backward - one.backward) / (kChain - 1));
  calls.piece = {.forward = at_least({}, one.forward - calls.recorded), .backward = at_least({}, one.backward - calls.backward)};
  return calls;
}

}  // namespace executor
