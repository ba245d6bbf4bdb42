// What differs by chance between things that are meant to be equal: loads of experts, rates of devices, predictions and what is measured.
#pragma once

#include "sim/clock/behavior.h"

namespace sim {

// Mean of the largest of `count` standard normal values, by the asymptotic law of extremes; 0 for one.
double largest_of_normal(double count);

// How much longer the slowest of so many devices takes for equal work, which is what a step waits for, than their mean: at least 1.
double slowest_device(double devices, const Behavior& behavior);

struct FourOfFive {  // the range that holds four of five cases
  double low = 0, high = 0;
};
// How likely more than the limit comes: the logarithm is taken as normal, with its middle in that of the range's.
double chance_above(const FourOfFive& range, double limit);

}  // namespace sim
