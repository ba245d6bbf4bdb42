// The same plan simulated again and again, as a sweep in C++ does it:  sweep PLAN COUNT  prints the seconds that it took.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "sim/engine/simulate.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const sim::ParallelPlan plan = sim::load_plan(argv[1]);
  const auto begin = std::chrono::steady_clock::now();
  sim::SimTime sum{};
  for (int count = std::atoi(argv[2]); count > 0; --count) sum += sim::simulate(sim::make_model_graph(plan), plan).step_time;
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
  std::printf("%.6f\n", spent.count());
  return sum.count() > 0 ? 0 : 1;
}
