#include "tests/planted/planted_bug.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>

namespace executor {
namespace {

PlantedBug named_by_environment() {
  const char* const name = std::getenv("MESHWRIGHT_PLANTED_BUG");
  if (name == nullptr) return PlantedBug::None;
  const auto* const found = std::find(std::begin(kPlantedBugNames), std::end(kPlantedBugNames), std::string_view(name));
  if (found == std::end(kPlantedBugNames)) throw std::invalid_argument("MESHWRIGHT_PLANTED_BUG names no bug: " + std::string(name));
  return static_cast<PlantedBug>(found - std::begin(kPlantedBugNames));
}

std::atomic<PlantedBug>& now() {  // ranks may be threads
  static std::atomic<PlantedBug> bug{named_by_environment()};
  return bug;
}

bool& copies() {
  static bool are_there = false;
  return are_there;
}

}  // namespace

bool planted(PlantedBug bug) { return now() == bug; }
bool planted_once(PlantedBug bug) { return now().compare_exchange_strong(bug, PlantedBug::None); }
bool announce_copies() { return copies() = true; }
bool has_copies() { return copies(); }

Planting::Planting(PlantedBug bug) {
  if (bug != PlantedBug::None && !has_copies()) throw std::logic_error("no bug can be planted in the shipped sources");
  now() = bug;
}
Planting::~Planting() { now() = PlantedBug::None; }

}  // namespace executor
