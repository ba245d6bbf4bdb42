#include "executor/communication/mpi_communicator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

#include "executor/communication/direct_exchange.h"

namespace executor {
namespace {

constexpr std::int32_t kTransferTags = 1 << 28;                   // above those of collectives
constexpr Tag payload(Tag header) { return {header.value + 1}; }  // of a transfer

// A payload of another size has another tag: it never arrives in a buffer of this size (a truncated message leaves Open MPI 4.1 with a damaged
// heap), and the headers can tell what is wrong.
struct CollectiveTags {
  Tag header, payload;
};
CollectiveTags tags_of(const OperationHeader& header, std::int64_t sequence) {
  constexpr std::int64_t kSequences = 1 << 13;
  constexpr std::int32_t kSizeBits = 14;
  const std::uint64_t mixed = static_cast<std::uint64_t>(header.bytes) * 0x9e3779b97f4a7c15ULL;
  const auto number = static_cast<std::int32_t>(2 * (sequence % kSequences));
  return {{number}, {number + 1 + static_cast<std::int32_t>(mixed >> (64 - kSizeBits)) * static_cast<std::int32_t>(2 * kSequences)}};
}

void require_host(const at::Tensor& tensor, const sim::TaskKey& key) {
  if (!tensor.is_cpu()) throw std::invalid_argument(fmt::format("{}: MPI moves CPU tensors only; others are staged", sim::to_text(key)));
}

OperationHeader host_header_of(OperationKind kind, const at::Tensor& whole, const sim::TaskKey& key) {
  require_host(whole, key);
  return header_of(kind, whole, key);
}

std::shared_ptr<MpiGroup> make_group(std::shared_ptr<MpiSession> session, const std::vector<sim::Rank>& members, const std::string& name) {
  auto group = std::make_shared<MpiGroup>();
  int world_rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  check_mpi(MPI_Comm_split(MPI_COMM_WORLD, members.front().value(), world_rank, &group->communicator), "MPI_Comm_split");
  MPI_Comm_set_errhandler(group->communicator, MPI_ERRORS_RETURN);
  MPI_Comm_rank(group->communicator, &group->rank);
  MPI_Comm_size(group->communicator, &group->size);
  if (group->size != static_cast<int>(members.size())) throw CollectiveError(name + " group: its ranks name different members");
  for (const sim::Rank member : members) group->members.push_back(member.value());
  group->name = fmt::format("{} group of ranks {}", name, fmt::join(group->members, " "));
  group->session = std::move(session);
  return group;
}

}  // namespace

MpiCommunicator::MpiCommunicator(std::shared_ptr<MpiSession> session, const std::vector<sim::Rank>& members, const std::string& name,
                                 Ledger* ledger)
    : group_(make_group(std::move(session), members, name)), ledger_(ledger) {}

// The MPI communicator is not freed: that is collective, and a failed run would hang in it. MPI_Finalize does it.
MpiCommunicator::~MpiCommunicator() = default;

std::vector<Peer> MpiCommunicator::others() const {
  std::vector<Peer> peers;
  for (std::int32_t rank = 0; rank < size(); ++rank) {
    if (rank != group_->rank) peers.push_back({rank});
  }
  return peers;
}

void MpiCommunicator::record(const OperationHeader& header, std::int32_t group_size) {
  if (ledger_ && is_task(header.key)) ledger_->push_back({.key = header.key, .group_size = group_size, .payload = payload_of(header)});
}

WorkHandle MpiCommunicator::collective(OperationHeader header, Rounds rounds) {
  const Tag tag = tags_of(header, sequence_).header;
  header.sequence = sequence_++;
  if (header.kind != OperationKind::Barrier) record(header, size());
  const HeaderExchange exchange{.send_to = others(), .receive_from = others(), .tag = tag};
  return std::make_unique<MpiOperation>(group_, header, exchange, std::move(rounds));
}

WorkHandle MpiCommunicator::all_reduce(at::Tensor buffer, ReduceOperation operation, const sim::TaskKey& key) {
  auto header = host_header_of(OperationKind::AllReduce, buffer, key);
  header.reduction = operation;
  const Tag tag = tags_of(header, sequence_).payload;
  const auto exchange = std::make_shared<DirectExchange>(*group_, Chunks(buffer, {size()}), tag);
  Rounds rounds;
  rounds.push_back([exchange](MpiMessages& messages) { exchange->post(messages); });
  rounds.push_back([exchange, operation, group = group_, buffer, tag](MpiMessages& messages) {
    exchange->reduce_into(exchange->own_chunk(), operation);
    post_gather(messages, *group, Chunks(buffer, {group->size}), tag);
  });
  return collective(header, std::move(rounds));
}

WorkHandle MpiCommunicator::reduce_scatter(at::Tensor shard, at::Tensor full, const sim::TaskKey& key) {
  require_shard({shard, full}, size(), key);
  const OperationHeader header = host_header_of(OperationKind::ReduceScatter, full, key);
  return reduce_chunks(header, Chunks(full, {size()}), shard);
}

WorkHandle MpiCommunicator::reduce_chunks(const OperationHeader& header, Chunks chunks, const at::Tensor& own) {
  const auto exchange = std::make_shared<DirectExchange>(*group_, std::move(chunks), tags_of(header, sequence_).payload);
  Rounds rounds;
  rounds.push_back([exchange](MpiMessages& messages) { exchange->post(messages); });
  rounds.push_back([exchange, own](MpiMessages&) { exchange->reduce_into(bytes_of(own), ReduceOperation::Sum); });
  return collective(header, std::move(rounds));
}

WorkHandle MpiCommunicator::all_gather(at::Tensor full, at::Tensor shard, const sim::TaskKey& key) {
  require_shard({shard, full}, size(), key);
  const auto mine = Chunks(full, {size()}).of({rank()});
  if (mine.data() != shard.data_ptr()) std::ranges::copy(bytes_of(shard), mine.data());
  return gather_chunks(host_header_of(OperationKind::AllGather, full, key), Chunks(full, {size()}));
}

WorkHandle MpiCommunicator::gather_chunks(const OperationHeader& header, Chunks chunks) {
  Rounds rounds;
  rounds.push_back([group = group_, chunks = std::move(chunks), tag = tags_of(header, sequence_).payload](MpiMessages& messages) {
    post_gather(messages, *group, chunks, tag);
  });
  return collective(header, std::move(rounds));
}

WorkHandle MpiCommunicator::reduce_to_owners(at::Tensor own, const OwnedParts& parts, const sim::TaskKey& key) {
  require_parts(parts, size(), key);
  return reduce_chunks(host_header_of(OperationKind::ReduceScatter, parts.whole, key), Chunks(parts), own);
}

WorkHandle MpiCommunicator::gather_from_owners(const OwnedParts& parts, const sim::TaskKey& key) {
  require_parts(parts, size(), key);
  return gather_chunks(host_header_of(OperationKind::AllGather, parts.whole, key), Chunks(parts));
}

WorkHandle MpiCommunicator::exchange(const RowExchange& rows, const sim::TaskKey& key) {
  require_host(rows.received, key);
  const OperationHeader header = header_of(rows, key);
  Rounds rounds;
  rounds.push_back(
      [group = group_, rows, tag = tags_of(header, sequence_).payload](MpiMessages& messages) { post_rows(messages, *group, rows, tag); });
  return collective(header, std::move(rounds));
}

WorkHandle MpiCommunicator::broadcast(at::Tensor buffer, std::int32_t root, const sim::TaskKey& key) {
  auto header = host_header_of(OperationKind::Broadcast, buffer, key);
  header.root = root;
  const Tag tag = tags_of(header, sequence_).payload;
  Rounds rounds;
  rounds.push_back([group = group_, buffer, root, tag, peers = others()](MpiMessages& messages) {
    if (group->rank != root) return messages.receive(bytes_of(buffer), {root}, tag);
    for (const Peer peer : peers) messages.send(bytes_of(buffer), peer, tag);
  });
  return collective(header, std::move(rounds));
}

WorkHandle MpiCommunicator::transfer(OperationHeader header, Peer peer, TransferEnd end, const at::Tensor& buffer) {
  if (peer.rank == rank() || peer.rank < 0 || peer.rank >= size()) {
    throw std::invalid_argument(fmt::format("{}: rank {} is no peer of rank {}", to_text(header), peer.rank, rank()));
  }
  record(header, 2);
  const auto identity = transfer_identity(header.key, end);
  header.transfer = identity;
  const auto number =
      (identity.boundary & 0xfff) << 15 | (identity.microbatch & 0x1fff) << 2 | (identity.phase == sim::Phase::Backward) << 1;
  const Tag tag{kTransferTags + number};
  HeaderExchange exchange{.send_to = {}, .receive_from = {}, .tag = tag};
  (end == TransferEnd::Sender ? exchange.send_to : exchange.receive_from).push_back(peer);
  Rounds rounds;
  rounds.push_back([buffer, peer, end, tag](MpiMessages& messages) {
    if (end == TransferEnd::Sender)
      messages.send(bytes_of(buffer), peer, payload(tag));
    else
      messages.receive(bytes_of(buffer), peer, payload(tag));
  });
  return std::make_unique<MpiOperation>(group_, header, exchange, std::move(rounds));
}

WorkHandle MpiCommunicator::send(at::Tensor buffer, std::int32_t to, const sim::TaskKey& key) {
  return transfer(host_header_of(OperationKind::Transfer, buffer, key), {to}, TransferEnd::Sender, buffer);
}

WorkHandle MpiCommunicator::receive(at::Tensor buffer, std::int32_t from, const sim::TaskKey& key) {
  return transfer(host_header_of(OperationKind::Transfer, buffer, key), {from}, TransferEnd::Receiver, buffer);
}

void MpiCommunicator::barrier() { collective({.kind = OperationKind::Barrier}, {})->wait(); }

}  // namespace executor
