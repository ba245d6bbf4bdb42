// How alike two plans are: plans that are alike are mispredicted alike, whatever the cause is. What was learned from measured runs is kept by them
// (SoftwareStack::learned_runs), so that a plan near one of them follows it and a plan far from all does not.
#pragma once

#include <string>
#include <vector>

namespace sim {

struct Likeness {
  std::string kind, numbers;  // of the network ("experts adapters"), of its precision
  std::vector<double> at;     // logarithms of sizes and degrees, each in units of what makes a difference
  bool operator==(const Likeness&) const = default;
};
double alike(const Likeness& one, const Likeness& other);  // 1: the same; 0: nothing of one holds for the other

struct LearnedRun {
  Likeness like;
  double weight = 0;  // of the logarithm of a step, where a plan is the same
  bool operator==(const LearnedRun&) const = default;
};
double learned_factor(const std::vector<LearnedRun>& runs, const Likeness& plan);  // of a step's time

}  // namespace sim
