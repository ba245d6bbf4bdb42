#include "executor/communication/mpi_operation.h"

#include <fmt/format.h>

#include <exception>
#include <limits>

#include "sim/units/at.h"

namespace executor {
namespace {

constexpr sim::Bytes kUncut{std::numeric_limits<int>::max()};

std::span<const std::byte> bytes_of_header(const OperationHeader& header) { return std::as_bytes(std::span(&header, 1)); }

// The header of an operation that a peer issued and this rank did not, if one lies waiting.
std::optional<OperationHeader> unexpected_header(MPI_Comm group, Peer peer) {
  int found = 0, bytes = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(peer.rank, MPI_ANY_TAG, group, &found, &status), "MPI_Iprobe");
  if (!found) return std::nullopt;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  OperationHeader header;
  if (bytes != static_cast<int>(sizeof header)) return std::nullopt;
  check_mpi(MPI_Recv(&header, bytes, MPI_BYTE, peer.rank, status.MPI_TAG, group, MPI_STATUS_IGNORE), "MPI_Recv");
  return header;
}

}  // namespace

struct MpiOperation::InFlight {
  InFlight(const MpiGroup& group, const OperationHeader& header, std::deque<Round> to_do)
      : mine(header),
        header_sends(group.communicator, kUncut),
        messages(group.communicator, group.session->options().message),
        rounds{std::move(to_do), {}} {}
  OperationHeader mine;
  std::vector<Peer> told;  // who has got the header
  std::vector<HeaderFrom> theirs;
  MpiMessages header_sends, messages;
  struct {
    std::deque<Round> to_do, done;  // done ones hold their tensors until all messages arrived
  } rounds;
};

MpiOperation::MpiOperation(std::shared_ptr<const MpiGroup> group, const OperationHeader& header, const HeaderExchange& exchange,
                           std::deque<Round> rounds)
    : group_(std::move(group)), in_flight_(std::make_unique<InFlight>(*group_, header, std::move(rounds))) {
  try {
    exchange_headers(exchange);
    post_next_round();
  } catch (...) {  // no destructor will run, and messages may be under way
    bury();
    throw;
  }
  group_->session->enter(*this);
}

MpiOperation::~MpiOperation() {
  if (!done_ && std::uncaught_exceptions() == 0) {
    try {
      wait();
    } catch (const CollectiveError&) {  // the session keeps it: the next operation reports it
    }
  }
  group_->session->leave(*this);
  if (!done_) bury();
}

// MPI may still write into the buffers of an operation that cannot end: they are never freed. The process is about to end.
void MpiOperation::bury() { static_cast<void>(in_flight_.release()); }

void MpiOperation::exchange_headers(const HeaderExchange& exchange) {
  auto& theirs = in_flight_->theirs;
  theirs.reserve(exchange.receive_from.size());
  for (const Peer peer : exchange.receive_from) {
    auto& from = theirs.emplace_back();
    from.peer = peer;
    check_mpi(MPI_Irecv(&from.header, sizeof from.header, MPI_BYTE, peer.rank, exchange.tag.value, group_->communicator, &from.request),
              "MPI_Irecv");
  }
  in_flight_->told = exchange.send_to;
  for (const Peer peer : exchange.send_to) in_flight_->header_sends.send(bytes_of_header(in_flight_->mine), peer, exchange.tag);
}

void MpiOperation::wait() {
  if (!done_) group_->session->wait_for(*this);
}

bool MpiOperation::has_ended() {
  if (!done_) group_->session->look_at(*this);
  return done_;
}

void MpiOperation::check_headers() {
  for (auto& from : in_flight_->theirs) {
    if (from.arrived) continue;
    int arrived = 0;
    check_mpi(MPI_Test(&from.request, &arrived, MPI_STATUS_IGNORE), "a header");
    if (!arrived) continue;
    from.arrived = true;
    if (same_operation(in_flight_->mine, from.header)) continue;
    throw CollectiveError(fmt::format("{}: the ranks disagree. Rank {} issued {} while rank {} issued {}", group_->name, in_job(from.peer),
                                      to_text(from.header), in_job({group_->rank}), to_text(in_flight_->mine)));
  }
}

bool MpiOperation::messages_arrived() {
  try {
    return in_flight_->messages.test();
  } catch (const CollectiveError&) {
    check_headers();  // a payload of another size than expected: its header came with it and says more
    throw;
  }
}

void MpiOperation::post_next_round() {
  auto& [to_do, done] = in_flight_->rounds;
  if (to_do.empty()) return;
  const Round& round = done.emplace_back(std::move(to_do.front()));
  to_do.pop_front();
  round(in_flight_->messages);
}

void MpiOperation::advance() {
  while (!done_) {
    check_headers();
    if (!messages_arrived() || !missing().empty()) return;
    if (!in_flight_->rounds.to_do.empty()) {
      post_next_round();
    } else if (in_flight_->header_sends.test()) {
      done_ = true;
      in_flight_.reset();
    } else {
      return;
    }
  }
}

std::vector<Peer> MpiOperation::missing() const {
  std::vector<Peer> peers;
  for (const auto& from : in_flight_->theirs) {
    if (!from.arrived) peers.push_back(from.peer);
  }
  return peers;
}

std::int32_t MpiOperation::in_job(Peer peer) const { return sim::at(group_->members, peer.rank); }

// Of a transfer the sender, too, waits for its peer: until that takes the payload.
Waiting MpiOperation::waiting(std::int64_t number) const {
  const std::vector<Peer> absent =
      in_flight_->mine.kind == OperationKind::Transfer && !in_flight_->told.empty() ? in_flight_->told : missing();
  return {.number = number,
          .rank = in_job({group_->rank}),
          .for_rank = absent.empty() ? -1 : in_job(absent.front()),
          .in = fmt::format("{} ({})", to_text(in_flight_->mine), group_->name)};
}

void MpiOperation::fail_after(sim::Seconds waited) const {
  std::string reason;
  for (const Peer peer : missing()) {
    const auto other = unexpected_header(group_->communicator, peer);
    reason += fmt::format(" Rank {} has not come{}.", in_job(peer), other ? ": it issued " + to_text(*other) + " instead" : "");
  }
  if (reason.empty()) reason = " All ranks came, but a message did not arrive.";
  throw CollectiveError(fmt::format("{}: rank {} waited {:.1f} s in {}.{}", group_->name, in_job({group_->rank}), waited.count(),
                                    to_text(in_flight_->mine), reason));
}

}  // namespace executor
