// The simulator's allocator, asked as ask_allocator is: [segments|expandable] bytes of the device. With "reserved" and a plan: what it reserves for its first
// stage.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "sim/allocator/caching_allocator.h"
#include "sim/allocator/reserved_memory.h"

namespace {

int print_reserved(const char* plan) {
  std::printf("%ld\n", static_cast<long>(sim::reserved_memory(sim::load_plan(plan), sim::StageIndex(0)).reserved.value()));
  return 0;
}

}  // namespace

int main(int, char** words) {
  if (std::strcmp(words[1], "reserved") == 0) return print_reserved(words[2]);
  const bool grows = std::strcmp(words[1], "expandable") == 0;
  sim::CachingAllocator allocator(grows ? sim::DeviceAllocator::Expandable : sim::DeviceAllocator::Segments,
                                  sim::Bytes(std::atoll(words[2])));
  std::map<long, sim::CachingAllocator::Place> places;
  char what = 0;
  for (long number = 0; std::scanf(" %c %ld", &what, &number) == 2;) {
    long size = 0;
    int stream = 0;
    if (what == '+' && std::scanf("%ld %d", &size, &stream) != 2) return 1;
    if (what == '+') {
      const auto place = allocator.take(sim::Bytes(size), stream);
      if (place) places[number] = *place;
      place ? std::printf("%ld\n", static_cast<long>(allocator.reserved().value())) : std::puts("out");
      continue;
    }
    if (const auto place = places.find(number); place != places.end()) {
      allocator.give_back(place->second);
      places.erase(place);
    }
    std::printf("%ld\n", static_cast<long>(allocator.reserved().value()));
  }
}
