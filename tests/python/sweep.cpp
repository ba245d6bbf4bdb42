// The same plan simulated again and again, as a sweep in C++ does it:  sweep PLAN COUNT  prints the processor time that it took, in seconds.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "sim/engine/simulate.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const sim::ParallelPlan plan = sim::load_plan(argv[1]);
  const std::clock_t begin = std::clock();
  sim::SimTime sum{};
  for (int count = std::atoi(argv[2]); count > 0; --count) sum += sim::simulate(sim::make_model_graph(plan), plan).step_time;
  std::printf("%.6f\n", static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  return sum.count() > 0 ? 0 : 1;
}
