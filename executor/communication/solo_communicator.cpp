#include "executor/communication/solo_communicator.h"

#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

namespace executor {
namespace {

class DoneWork final : public Work {
 public:
  void wait() override {}
};

WorkHandle done() { return std::make_unique<DoneWork>(); }

void copy(at::Tensor& to, const at::Tensor& from) {
  if (to.data_ptr() == from.data_ptr()) return;  // an all-gather's shard may be its own chunk of the result
  const at::NoGradGuard no_gradient;
  to.view(-1).copy_(from.view(-1));
}

[[noreturn]] void refuse(const char* what, const sim::TaskKey& key) {
  throw CollectiveError(fmt::format("{} {} in a group of one rank: there is nobody to talk to", what, sim::to_text(key)));
}

}  // namespace

WorkHandle SoloCommunicator::all_reduce(at::Tensor, ReduceOperation, const sim::TaskKey&) { return done(); }
WorkHandle SoloCommunicator::broadcast(at::Tensor, std::int32_t, const sim::TaskKey&) { return done(); }

WorkHandle SoloCommunicator::reduce_scatter(at::Tensor shard, at::Tensor full, const sim::TaskKey&) {
  copy(shard, full);
  return done();
}

WorkHandle SoloCommunicator::all_gather(at::Tensor full, at::Tensor shard, const sim::TaskKey&) {
  copy(full, shard);
  return done();
}

WorkHandle SoloCommunicator::reduce_to_owners(at::Tensor own, const OwnedParts& parts, const sim::TaskKey&) {
  copy(own, parts.whole);
  return done();
}
WorkHandle SoloCommunicator::gather_from_owners(const OwnedParts&, const sim::TaskKey&) { return done(); }

WorkHandle SoloCommunicator::exchange(const RowExchange& rows, const sim::TaskKey&) {
  at::Tensor received = rows.received;
  copy(received, rows.sent);
  return done();
}

WorkHandle SoloCommunicator::send(at::Tensor, std::int32_t, const sim::TaskKey& key) { refuse("send", key); }
WorkHandle SoloCommunicator::receive(at::Tensor, std::int32_t, const sim::TaskKey& key) { refuse("receive", key); }

}  // namespace executor
