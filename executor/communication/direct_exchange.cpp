#include "executor/communication/direct_exchange.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "executor/communication/rank_sum.h"
#include "sim/units/at.h"

namespace executor {

std::span<std::byte> bytes_of(const at::Tensor& tensor) { return {static_cast<std::byte*>(tensor.data_ptr()), tensor.nbytes()}; }

Chunks::Chunks(at::Tensor buffer, Peer ranks) : buffer_(std::move(buffer)) {
  const std::int64_t elements = buffer_.numel(), length = (elements + ranks.rank - 1) / ranks.rank;
  for (std::int64_t rank = 1; rank <= ranks.rank; ++rank) ends_.push_back(std::min(rank * length, elements));
}

Chunks::Chunks(const OwnedParts& parts) : buffer_(parts.whole), ends_(parts.elements.size()) {
  std::partial_sum(parts.elements.begin(), parts.elements.end(), ends_.begin());
}

std::span<std::byte> Chunks::of(Peer peer) const {
  const std::int64_t begin = peer.rank == 0 ? 0 : sim::at(ends_, peer.rank - 1), end = sim::at(ends_, peer.rank);
  const auto width = buffer_.element_size();
  return bytes_of(buffer_).subspan(sim::count_of(begin) * width, sim::count_of(end - begin) * width);
}

DirectExchange::DirectExchange(const MpiGroup& group, Chunks chunks, Tag tag)
    : own_{group.rank}, ranks_{group.size}, tag_(tag), type_(chunks.buffer().scalar_type()), chunks_(std::move(chunks)) {
  const at::Tensor& whole = chunks_.buffer();
  const auto length = static_cast<std::int64_t>(chunks_.of(own_).size() / whole.element_size());
  pieces_ = at::empty({group.size - 1, length}, whole.options());
}

std::span<std::byte> DirectExchange::chunk_of(Peer rank) const {
  const auto mine = chunks_.of(own_);
  if (rank.rank == own_.rank) return mine;
  const auto position = static_cast<std::size_t>(rank.rank < own_.rank ? rank.rank : rank.rank - 1);
  return bytes_of(pieces_).subspan(position * mine.size(), mine.size());
}

void DirectExchange::post(MpiMessages& messages) const {
  for (Peer peer; peer.rank < ranks_.rank; ++peer.rank) {
    if (peer.rank == own_.rank) continue;
    messages.receive(chunk_of(peer), peer, tag_);
    messages.send(chunks_.of(peer), peer, tag_);
  }
}

void DirectExchange::reduce_into(std::span<std::byte> result, ReduceOperation operation) const {
  std::vector<const std::byte*> sources;
  for (Peer rank; rank.rank < ranks_.rank; ++rank.rank) sources.push_back(chunk_of(rank).data());
  const auto elements = static_cast<std::int64_t>(result.size() / c10::elementSize(type_));
  reduce_in_rank_order({.result = result.data(), .sources = sources, .elements = elements}, type_, operation);
}

void post_rows(MpiMessages& messages, const MpiGroup& group, const RowExchange& rows, Tag tag) {
  std::span<std::byte> sent = bytes_of(rows.sent), received = bytes_of(rows.received);
  const std::size_t width = sim::count_of(rows.sent.size(1)) * rows.sent.element_size();
  const auto take = [width](std::span<std::byte>& from, std::int64_t count) {
    const auto stretch = from.first(sim::count_of(count) * width);
    from = from.subspan(stretch.size());
    return stretch;
  };
  for (Peer peer; peer.rank < group.size; ++peer.rank) {
    const auto at = static_cast<std::size_t>(peer.rank);
    const auto out = take(sent, rows.to[at]), in = take(received, rows.from[at]);
    if (peer.rank == group.rank) {
      std::ranges::copy(out, in.begin());
      continue;
    }
    if (!in.empty()) messages.receive(in, peer, tag);
    if (!out.empty()) messages.send(out, peer, tag);
  }
}

void post_gather(MpiMessages& messages, const MpiGroup& group, const Chunks& chunks, Tag tag) {
  for (Peer peer; peer.rank < group.size; ++peer.rank) {
    if (peer.rank == group.rank) continue;
    messages.receive(chunks.of(peer), peer, tag);
    messages.send(chunks.of({group.rank}), peer, tag);
  }
}

}  // namespace executor
