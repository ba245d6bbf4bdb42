// The operations of one NCCL group in their order: sequence number, ledger, the call on the current stream, the event that says it ended. It stays where
// it was made: a graph's replays come back to it.
#pragma once

#include <functional>
#include <memory>

#include "executor/communication/ledger.h"
#include "executor/communication/nccl_session.h"

namespace executor {

class NcclLane {
 public:
  NcclLane(std::shared_ptr<NcclSession> session, const NcclGroup* group, Ledger* ledger)
      : session_(std::move(session)), group_(group), ledger_(ledger) {}

  const NcclGroup& group() const { return *group_; }
  NcclSession& session() { return *session_; }
  const NcclLibrary& library() const { return *session_->settings().library; }
  at::Tensor on_device(const at::Tensor& tensor) const { return tensor.to(session_->settings().device); }  // itself, if it is there

  using Call = std::function<NcclStatus(const NcclOn& on)>;
  // A result that the caller wants on the host, and where the call leaves it. Without tensors: it is where the caller wants it.
  struct HostResult {
    at::Tensor host, device;
  };
  static HostResult result_of(const at::Tensor& wanted, const at::Tensor& device);
  WorkHandle issue(OperationHeader header, std::int32_t ranks, const Call& call, const HostResult& result);

 private:
  OperationHeader begin(OperationHeader header, std::int32_t ranks);

  std::shared_ptr<NcclSession> session_;
  const NcclGroup* group_;
  Ledger* ledger_;
  std::int64_t sequence_ = 0;
};

// What NCCL is told of a tensor, or of a pair of them.
NcclBuffer nccl_buffer(const at::Tensor& in_place);
struct FromTo {
  const at::Tensor& from;
  const at::Tensor& to;
};
NcclBuffer nccl_buffer(const FromTo& tensors, std::int64_t elements);

}  // namespace executor
