// From one step to a training of many: devices fail, ranks straggle, checkpoints are written, what was not saved is done again.
// Draws whole trainings from given rates with a seeded generator and returns how long they take and where the time goes.
// The times of a step, with and without a straggler on each stage, come from the simulator.
//
//   |== steps ==|save|== steps ==|save|= lost =X restart |= again =|== steps ==|
//
// Failures and stragglers are Poisson processes of all ranks; a failure during a restart restarts it. A failed node may be away for repair: the training
// waits while more are than were held back. In closed form, without stragglers: expected_goodput.h.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units/sim_time.h"

namespace sim {

struct Reliability {
  Seconds mean_time_between_failures{};  // of one device; zero: none fails
  Seconds restart{};                     // from a failure to the first step after it, checkpoint read
  Seconds save{};                        // a checkpoint holds the step up that long
  std::int64_t checkpoint_interval = 0;  // steps; zero: nothing is saved
  Seconds repair{};                      // mean time until a failed node is back; zero: it is there for the restart
  std::int32_t spares = 0;               // nodes held back, beside those that train
  double stragglers_per_day = 0;         // of one device
  Seconds straggling{};                  // mean length of such a time
};

struct StepTimes {
  Seconds usual{};
  std::vector<Seconds> straggling;  // by stage: with one slow rank on it
};

struct Training {
  std::int64_t steps = 1;
  std::int32_t devices = 1;
  StepTimes step;
  Reliability reliability;
  std::uint64_t seed = 1;
  std::int32_t draws = 200;
};

struct Spread {                        // over the draws
  double mean = 0, low = 0, high = 0;  // low, high: the tenth and the ninetieth percentile
};

struct Goodput {
  Spread seconds;   // to train
  Spread share;     // steps * usual step / time: 1 where nothing goes wrong
  Spread failures;  // how many
  // Mean seconds of a training: they add up to the mean of `seconds`.
  double useful = 0, slowed = 0, saving = 0, lost = 0, restarting = 0, waiting = 0;
  std::int64_t best_interval = 0;  // steps; zero: nothing fails
  std::int32_t unfinished = 0;     // draws given up: they went on failing for a hundred times the useful time
};

Goodput train(const Training& training);
double most_events(const Training& training);          // failures, stragglers and checkpoints of one draw, were it given up last
std::int64_t best_interval(const Training& training);  // steps, at least 1; zero: nothing fails

}  // namespace sim
