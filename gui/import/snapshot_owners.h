// Who allocated, by the stack of an allocation in a memory snapshot: a line of the program, and in which part of the step.
// Stacks are shared by many allocations: each is judged once.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "gui/import/memory_snapshot.h"
#include "gui/import/pickle.h"

namespace gui {

struct SnapshotOwner {
  std::uint32_t number = 0;  // into names; 0: unknown
  AllocatedIn part = AllocatedIn::Elsewhere;
};

class SnapshotOwners {
 public:
  SnapshotOwners(const Pickle& pickle, std::vector<std::string>& names);
  SnapshotOwner of(PickleId frames);

 private:
  SnapshotOwner judge(PickleId frames);
  std::uint32_t number(const std::string& name);

  const Pickle& pickle_;
  std::vector<std::string>& names_;
  std::unordered_map<std::uint32_t, SnapshotOwner> known_;  // by the list of frames
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace gui
