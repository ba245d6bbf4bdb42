#include "executor/communication/mpi_messages.h"

#include <algorithm>

#include "executor/communication/mpi_session.h"
#include "sim/units/at.h"

namespace executor {
namespace {

template <class Byte, class Post>
void in_pieces(std::span<Byte> bytes, sim::Bytes longest, const Post& post) {
  const auto piece = sim::count_of(longest.value());
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(piece, bytes.size()))) post(bytes.first(std::min(piece, bytes.size())));
}

}  // namespace

void MpiMessages::send(std::span<const std::byte> bytes, Peer to, Tag tag) {
  in_pieces(bytes, longest_, [&](std::span<const std::byte> piece) {
    auto& request = requests_.emplace_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to.rank, tag.value, group_, &request), "MPI_Isend");
  });
}

void MpiMessages::receive(std::span<std::byte> bytes, Peer from, Tag tag) {
  in_pieces(bytes, longest_, [&](std::span<std::byte> piece) {
    auto& request = requests_.emplace_back(MPI_REQUEST_NULL);
    check_mpi(MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, from.rank, tag.value, group_, &request), "MPI_Irecv");
  });
}

bool MpiMessages::test() {
  if (requests_.empty()) return true;
  int done = 0;
  check_mpi(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), "a message");
  if (done) requests_.clear();
  return done != 0;
}

}  // namespace executor
