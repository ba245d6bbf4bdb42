// Asks the ranks that this one waits for what they wait for, and answers the same question; whoever finds a circle (WaitCircle) tells all.
// Used by a wait that lasts, so a run that goes well pays nothing. Messages are a few hundred bytes and travel in a communicator of their own.
#pragma once

#include <mpi.h>

#include <set>

#include "executor/communication/wait_circle.h"

namespace executor {

class MpiWatch {
 public:
  MpiWatch();  // collective over all ranks of the job
  MpiWatch(const MpiWatch&) = delete;
  MpiWatch& operator=(const MpiWatch&) = delete;

  // Throws CollectiveError where ranks wait for each other, on every rank that waits: with the operation of each.
  void look(const Waiting& mine);

 private:
  struct Letter;
  void read_letters(const Waiting& mine);
  void send(const Letter& letter, std::int32_t to) const;
  void ask(const Waiting& mine, std::int32_t rank);
  [[noreturn]] void tell_all(const std::string& circle, const Waiting& mine) const;

  MPI_Comm ranks_ = MPI_COMM_NULL;
  int size_ = 1;
  WaitCircle circle_;
  std::set<std::int32_t> asked_;  // and have not answered
};

}  // namespace executor
