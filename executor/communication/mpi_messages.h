// A set of MPI messages under way between this rank and the others of a group: buffers cut into pieces that MPI can count, tested together.
// Knows neither what the bytes mean nor when to stop waiting.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/units/quantity.h"

namespace executor {

struct Peer {
  std::int32_t rank = 0;
};
struct Tag {
  std::int32_t value = 0;
};

class MpiMessages {
 public:
  MpiMessages(MPI_Comm group, sim::Bytes longest) : group_(group), longest_(longest) {}

  void send(std::span<const std::byte> bytes, Peer to, Tag tag);
  void receive(std::span<std::byte> bytes, Peer from, Tag tag);
  bool test();  // true: all arrived. Throws CollectiveError for what MPI reports
  bool empty() const { return requests_.empty(); }

 private:
  MPI_Comm group_;
  sim::Bytes longest_;
  std::vector<MPI_Request> requests_;
};

}  // namespace executor
