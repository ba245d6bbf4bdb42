#include "executor/communication/nccl_lane.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include "sim/units/at.h"

namespace executor {
namespace {

class NcclWork final : public Work {
 public:
  NcclWork(std::shared_ptr<NcclSession> session, NcclLane::HostResult result) : session_(std::move(session)), result_(std::move(result)) {}
  void wait() override {
    if (!result_.host.defined()) return session_->watch().require_health();
    session_->watch().drain();
    result_.host.copy_(result_.device);
    result_ = {};
  }

 private:
  std::shared_ptr<NcclSession> session_;
  NcclLane::HostResult result_;
};

void* native_stream(c10::Device device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  return guard.getStreamNativeHandle(guard.getStream(device));
}

}  // namespace

NcclLane::HostResult NcclLane::result_of(const at::Tensor& wanted, const at::Tensor& device) {
  return wanted.is_cpu() ? HostResult{.host = wanted, .device = device} : HostResult{};
}

OperationHeader NcclLane::begin(OperationHeader header, std::int32_t ranks) {
  header.sequence = sequence_++;
  if (ledger_ && header.kind != OperationKind::Barrier && is_task(header.key))
    ledger_->push_back({.key = header.key, .group_size = ranks, .payload = payload_of(header)});
  return header;
}

WorkHandle NcclLane::issue(OperationHeader header, std::int32_t ranks, const Call& call, const HostResult& result) {
  NcclWatch& watch = session_->watch();
  watch.require_health();
  const bool is_recorded = session_->is_recording();
  if (!is_recorded) header = begin(header, ranks);
  const NcclOn on{.communicator = group_->handle, .stream = native_stream(session_->settings().device)};
  if (const NcclStatus status = call(on); status != NcclStatus::Success) session_->require(status, *group_, to_text(header));
  if (is_recorded)
    session_->note(
        [this, header, ranks](const NcclWatch::Ended& ended) { session_->watch().started(*group_, begin(header, ranks), ended); });
  else
    watch.started(*group_, header, watch.now());
  return std::make_unique<NcclWork>(session_, result);
}

NcclBuffer nccl_buffer(const at::Tensor& in_place) { return nccl_buffer({in_place, in_place}, in_place.numel()); }

NcclBuffer nccl_buffer(const FromTo& tensors, std::int64_t elements) {
  return {.from = tensors.from.data_ptr(),
          .to = tensors.to.data_ptr(),
          .elements = sim::count_of(elements),
          .type = tensors.from.scalar_type()};
}

}  // namespace executor
