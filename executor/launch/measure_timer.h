// Repeats something until its time is known: with all ranks at once, warmed up, by the median. A GPU is given many at a time and waited for
// once, so that of a short kernel the launch is seen, which is what bounds it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "executor/launch/measure.h"
#include "executor/model/piece.h"

namespace executor {

struct Repeats {
  std::int32_t value = 1;
};

// Of something that autograd records and runs backward, as executor/model/piece.h does it.
struct RecordedTime {
  sim::Seconds forward{}, backward{};
};

class KernelTimer {
 public:
  using Action = std::function<void()>;
  enum class Pass { Times, Counts };  // Counts: how many there are to time; runs none
  KernelTimer(MeshCommunicators& mesh, const MeasureOptions& options, Pass pass = Pass::Times);

  // Every rank repeats on its own, beginning together.
  sim::Seconds time(const Action& action);
  RecordedTime time_recorded(const at::Tensor& input, const Piece::Function& function);
  // For what ranks can only do together: every rank as often as the others. Of one call.
  sim::Seconds time_together(const Action& action, Repeats repeats);
  // The same after a stretch of computing, as in a step: ranks come out of it at different times, and the first waits for the last.
  // Mean of the calls, without the longest tenth.
  sim::Seconds time_after_work(const Action& action, Repeats repeats);

  void expect(std::int64_t all) { all_ = all; }  // to be timed from now on; each is told
  std::int64_t timed() const { return timed_; }
  const MeasureOptions& options() const { return options_; }
  at::TensorOptions of(at::ScalarType type) const { return options_.of(type); }
  MeshCommunicators& mesh() { return mesh_; }

 private:
  bool begin();        // one more; false: it is only counted
  double now() const;  // a device has ended all that it was given
  sim::Seconds typical(std::vector<double>& seconds) const;
  bool enough(const std::vector<double>& seconds, double spent) const;

  MeshCommunicators& mesh_;
  MeasureOptions options_;
  Pass pass_;
  std::int64_t timed_ = 0, all_ = 0;
  bool takes_turns_;  // ranks outnumber cores
  int calls_at_once(const Action& one) const;
  int at_once_;  // calls between two looks at the clock, of a short kernel; of a long one fewer, as it hides its launch by itself
};

// One measured kernel of this rank; ranks are merged later.
struct Sample {
  sim::Kernel kernel{};
  std::vector<std::int64_t> shape;
  sim::Seconds time{};
  sim::Precision precision = sim::Precision::Fp32;
};

// What surrounds a kernel, measured on one element: each is taken off where the cost model adds it again.
struct CallTimes {
  sim::Seconds plain{};     // an operator, nothing recorded
  sim::Seconds recorded{};  // the same, recorded by autograd
  sim::Seconds backward{};  // one node of a backward
  RecordedTime piece{};     // what a stretch costs beyond its operators: detaching, entering the engine

  // A difference of noisy times, floored: a kernel takes half a plain call at least, and a tick of the clock.
  sim::Seconds at_least_half(sim::Seconds difference) const;
  // The kernel alone, given what a stretch with one kernel took.
  sim::Seconds forward_kernel(sim::Seconds measured) const;
  sim::Seconds backward_kernel(sim::Seconds measured) const;
};
CallTimes time_calls(KernelTimer& timer);

// The parts of measure_kernels: each adds its kernels, in a fixed order.
void measure_products(KernelTimer& timer, const CallTimes& calls, std::vector<Sample>& samples);     // linear layers, attention
void measure_elementwise(KernelTimer& timer, const CallTimes& calls, std::vector<Sample>& samples);  // the rest of a layer
void measure_flat(KernelTimer& timer, std::vector<Sample>& samples);                                 // optimizer, norm, copies
void measure_collectives(KernelTimer& timer, std::vector<Sample>& samples);
sim::BytesPerSecond copy_rate(KernelTimer& timer);  // of the memory, read and written

// All of them, merged over the ranks.
std::vector<sim::MeasuredKernel> measure_kernels(KernelTimer& timer, const CallTimes& calls);

}  // namespace executor
