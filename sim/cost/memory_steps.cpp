#include "sim/cost/memory_steps.h"

#include "sim/units/at.h"

namespace sim {
namespace {

std::vector<MemoryChange> changes(const MemoryBreakdown& amounts) {
  std::vector<MemoryChange> some;
  for (std::size_t category = 0; category < amounts.size(); ++category)
    if (amounts[category].value() != 0) some.push_back({static_cast<MemoryCategory>(category), amounts[category]});
  return some;
}

// What is freed of an instant comes before what is taken, as the memory tracker has it.
void add_instant(MemorySteps& steps, const std::vector<MemoryChange>& some, std::int64_t sign) {
  for (const bool frees : {true, false})
    for (const MemoryChange& change : some)
      if ((change.amount.value() * sign < 0) == frees) steps.take(change.category, change.amount * sign, change.pool);
}

}  // namespace

MemorySteps& MemorySteps::take(MemoryCategory category, Bytes amount, MemoryPool pool) {
  if (amount.value() != 0) steps_.push_back({category, amount, pool});
  return *this;
}

MemorySteps& MemorySteps::add(const MemorySteps& others) {
  steps_.insert(steps_.end(), others.steps_.begin(), others.steps_.end());
  return *this;
}

MemorySteps steps_of(const MemoryEffect& effect) {
  MemorySteps steps;
  add_instant(steps, effect.at_start, 1);
  add_instant(steps, effect.temporary, 1);
  add_instant(steps, effect.temporary, -1);
  add_instant(steps, effect.at_end, 1);
  return steps;
}

MemoryEffect effect_of(const MemorySteps& steps) {
  MemoryBreakdown now{}, fullest{};
  Bytes sum{}, most{};
  for (const MemoryChange& step : steps.all()) {
    sim::at(now, step.category) += step.amount;
    sum += step.amount;
    if (sum <= most) continue;
    most = sum;
    fullest = now;
  }
  MemoryEffect effect;
  effect.temporary = changes(fullest);
  effect.at_end = changes(now);
  return effect;
}

}  // namespace sim
