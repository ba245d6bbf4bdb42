// Asks the ranks that this one waits for what they wait for, and answers the same question; whoever finds a circle (WaitCircle) tells all.
// A rank that ends before the job does says so, with its reason, and the others end, too: no words are lost when the job is aborted.
// Messages are two kilobytes and travel in a communicator of their own.
#pragma once

#include <mpi.h>

#include <optional>
#include <set>
#include <string_view>

#include "executor/communication/wait_circle.h"

namespace executor {

// How a rank ends before the job does.
struct RankEnd {
  std::int32_t rank = -1;
  int exit_code = 0;
};

class MpiWatch {
 public:
  using Time = WaitCircle::Time;
  MpiWatch();  // collective over all ranks of the job
  MpiWatch(const MpiWatch&) = delete;
  MpiWatch& operator=(const MpiWatch&) = delete;

  // Throws CollectiveError where ranks wait for each other, on every rank that waits: with the operation of each; and where another rank has
  // ended: with its reason. Asks others only if it `may_ask`.
  void look(const Waiting& mine, bool may_ask);

  // This rank has written why it ends. Tells the others, and waits until each has ended, `patience` at most. Returns the rank that ended first
  // as far as this one knows: it may be another, whose exit code is the job's.
  RankEnd end(int exit_code, std::string_view reason, Time patience);

 private:
  struct Letter;
  std::optional<Letter> next_letter() const;
  void read_letters(const Waiting& mine);
  void take_note_of_end(const Letter& letter);
  void send(const Letter& letter, std::int32_t to) const;
  void ask(const Waiting& mine, std::int32_t rank);
  [[noreturn]] void tell_all(const std::string& circle, const Waiting& mine) const;

  MPI_Comm ranks_ = MPI_COMM_NULL;
  int size_ = 1;
  WaitCircle circle_;
  std::set<std::int32_t> asked_;      // and have not answered
  std::set<std::int32_t> ended_;      // before the job did
  std::optional<RankEnd> first_end_;  // of another rank
};

}  // namespace executor
