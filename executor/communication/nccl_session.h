// NCCL for the life of the process: makes the communicators, in the same order on every rank, and keeps the operations that have not ended. The one
// place that waits for them: it polls their events and NCCL's asynchronous errors, compares with its peers what it is stuck in, and after the time
// limit aborts all communicators. NCCL itself sends no word about an operation, so ranks that disagree would hang, or go on with garbage where the
// amounts are equal: about once a second a rank compares what it has issued with its neighbours in each group. One thread owns it.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "executor/communication/nccl_library.h"
#include "executor/communication/operation_order.h"
#include "executor/communication/rendezvous.h"
#include "sim/units/index.h"

namespace executor {

struct NcclGroup {
  NcclHandle handle = nullptr;
  std::vector<sim::Rank> members;
  std::int32_t rank = 0;    // inside the group
  std::string name;         // "data group of ranks 0 2"
  std::int32_t number = 0;  // in the order of their making, which all ranks have
};

class NcclSession {
 public:
  struct Settings {
    const NcclLibrary* library = nullptr;
    c10::Device device{c10::DeviceType::CUDA, 0};  // this rank's own
    Rendezvous rendezvous;
    NcclPlace place;  // in the job
    CommunicationOptions options;
    sim::Seconds compare_after{1};  // stuck so long, ranks look what their peers are stuck in; as often what they have issued
  };
  explicit NcclSession(Settings settings) : settings_(std::move(settings)) {}
  ~NcclSession();
  NcclSession(const NcclSession&) = delete;
  NcclSession& operator=(const NcclSession&) = delete;

  const Settings& settings() const { return settings_; }
  // Every rank of the job makes the same groups in the same order, also those that it is no member of. Throws CollectiveError.
  // nullptr: this rank is no member. The group lives as long as the session.
  const NcclGroup* make_group(const std::vector<sim::Rank>& members, const std::string& name);

  // After a call to the library: waits while it is in progress, throws CollectiveError if it failed.
  void settle(NcclStatus status, const NcclGroup& group, const std::string& what);
  void started(const NcclGroup& group, const OperationHeader& header);  // on the current stream
  void look();                                                          // forgets what has ended; throws if NCCL reports an error
  void drain();                                                         // a safe point: waits for all that was started

 private:
  struct Started {
    const NcclGroup* group;
    OperationHeader header;
    c10::Event ended;
  };
  using Clock = std::chrono::steady_clock;
  sim::Rank rank() const { return sim::Rank(settings_.place.rank); }
  void compare_with_peers(const Started& stuck);
  void compare_orders();
  [[noreturn]] void fail_by_difference(const NcclGroup& group, sim::Rank peer);
  [[noreturn]] void fail_by(const NcclGroup& group, const OperationHeader& theirs, const OperationHeader& ours, sim::Rank peer);
  [[noreturn]] void fail(const std::string& sentence);
  [[noreturn]] void fail_after(sim::Seconds waited, const Started& stuck);

  Settings settings_;
  std::int32_t groups_made_ = 0;
  std::list<NcclGroup> groups_;
  std::list<Started> started_;
  std::map<std::int32_t, OperationOrder> orders_;  // by number of the group
  Clock::time_point compared_ = Clock::now();
  std::string failure_;  // the first; all later calls repeat it
};

}  // namespace executor
