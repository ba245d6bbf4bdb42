// One operation under way over MPI: headers first (do all ranks mean the same operation?), then rounds of messages, with local work between
// two rounds. A state machine that never blocks; MpiSession moves it on. Made by MpiCommunicator.
//
//   all_reduce   round 1: chunk i of every rank -> rank i | sum in rank order | round 2: chunk i of rank i -> every rank
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/communication/mpi_messages.h"
#include "executor/communication/mpi_session.h"
#include "executor/communication/operation_header.h"

namespace executor {

// What the operations of one communicator share.
struct MpiGroup {
  std::shared_ptr<MpiSession> session;
  MPI_Comm communicator = MPI_COMM_NULL;
  std::int32_t rank = 0, size = 1;
  std::string name;                   // "data group of ranks 0 2"
  std::vector<std::int32_t> members;  // their ranks in the job
};

// Whom to exchange headers with, under which tag.
struct HeaderExchange {
  std::vector<Peer> send_to, receive_from;
  Tag tag;
};

class MpiOperation final : public Work {
 public:
  using Round = std::function<void(MpiMessages&)>;  // does local work, then posts messages; holds the tensors that it touches

  MpiOperation(std::shared_ptr<const MpiGroup> group, const OperationHeader& header, const HeaderExchange& exchange,
               std::deque<Round> rounds);
  ~MpiOperation() override;
  void wait() override;
  bool has_ended() override;  // looks whether its own messages have come: of as many sends as are under way, each asks

  bool done() const { return done_; }
  void advance();                              // throws CollectiveError: ranks disagree, or MPI failed
  Waiting waiting(std::int64_t number) const;  // while not done
  [[noreturn]] void fail_after(sim::Seconds waited) const;

 private:
  struct HeaderFrom {
    Peer peer;
    OperationHeader header;
    MPI_Request request = MPI_REQUEST_NULL;
    bool arrived = false;
  };
  void exchange_headers(const HeaderExchange& exchange);
  void check_headers();
  bool messages_arrived();
  std::vector<Peer> missing() const;     // whose header has not come
  std::int32_t in_job(Peer peer) const;  // its rank there, as the group's name tells its members
  void post_next_round();
  void bury();

  std::shared_ptr<const MpiGroup> group_;
  struct InFlight;  // all that MPI may still write to or read from
  std::unique_ptr<InFlight> in_flight_;
  bool done_ = false;
};

}  // namespace executor
