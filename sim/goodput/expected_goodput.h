// What a step of a long training takes in expectation on devices that fail, everything included: in closed form, for the process that goodput.h draws, but
// for stragglers. With failures at mean distance M of all devices, restarts of length R (a failure within one begins it anew), saves of length d, steps of
// length s, k of them between saves:
//
//   M e^(R/M) (e^((k s + d)/M) - 1) / k          Daly, FGCS 2006, its complete formula; exact for Poisson failures
//
// Least where (1 - x/M) e^(x/M) = e^(-d/M) with x = k s: Lambert's function, of which sqrt(2 d M) is the first order (Young, CACM 1974).
// A failed node is repaired for a time r in the mean; c nodes are held back. Where more than c are in repair the training waits, and nothing fails: a system of
// c + 1 servers that loses what comes while all are busy. It waits for the share B(c + 1, r/M) of the time, Erlang's loss formula, whatever the
// distribution of repairs (Sevastyanov 1957).
#pragma once

#include <cstdint>

#include "sim/goodput/goodput.h"

namespace sim {

class ExpectedGoodput {
 public:
  ExpectedGoodput(const Reliability& reliability, std::int32_t devices);

  // Steps between saves: as the reliability says, else the number that loses least. 0: nothing fails, and none is asked for.
  std::int64_t interval(Seconds usual) const;
  // No less for a longer one. Infinite beyond all doubles: it never ends.
  Seconds step(Seconds usual) const;
  double waiting() const { return waiting_; }  // share of the time, for a node to be repaired

 private:
  double of(Seconds usual, double interval) const;

  double mean_gap_ = 0;  // between failures of any device; 0: none fails
  double restart_, save_;
  std::int64_t given_interval_;
  double best_ = 0;  // seconds between saves
  double waiting_ = 0;
};

struct LossSystem {
  std::int32_t servers = 1;
  double load = 0;  // arrivals while one is served, in the mean
};
double erlang_loss(const LossSystem& system);  // share of the time in which all are busy: B(servers, load)

}  // namespace sim
