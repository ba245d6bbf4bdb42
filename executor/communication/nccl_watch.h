// The one thread that looks after a process's NCCL: the oldest operation of each group, NCCL's asynchronous errors, what the peers have issued. So neither
// a call nor a wait asks anything of operations that go well. NCCL itself sends no word about an operation, and ranks that disagree would hang, or go
// on with garbage where the amounts are equal: about once a second a rank compares what it has issued with its neighbours in each group, and what it is
// stuck in with all of them. After the time limit, or an error, all communicators are aborted: what the GPU runs for them ends, and with it whoever
// waits there; the next call here throws.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Event.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
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

struct NcclSettings {
  const NcclLibrary* library = nullptr;
  c10::Device device{c10::DeviceType::CUDA, 0};  // this rank's own
  Rendezvous rendezvous;
  NcclPlace place;  // in the job
  CommunicationOptions options;
  sim::Seconds compare_after{1};  // stuck so long, ranks look what their peers are stuck in; as often what they have issued
};

// Where a rank leaves a word about a group.
std::string place_in(const NcclGroup& group, std::string_view what, sim::Rank rank);

class NcclWatch {
 public:
  explicit NcclWatch(const NcclSettings& settings) : settings_(settings) {}
  ~NcclWatch();  // looks no more
  NcclWatch(const NcclWatch&) = delete;
  NcclWatch& operator=(const NcclWatch&) = delete;

  void keep(NcclHandle handle);      // is aborted with all others
  void add(const NcclGroup& group);  // outlives this
  // While it lives, this rank waits inside NCCL until all ranks of the job have come to make a group.
  class Making {
   public:
    Making(NcclWatch& watch, const NcclGroup& group);
    ~Making();
    Making(const Making&) = delete;
    Making& operator=(const Making&) = delete;

   private:
    NcclWatch& watch_;
  };
  using Ended = std::shared_ptr<c10::Event>;
  Ended now();  // what the current stream has been given by now
  void started(const NcclGroup& group, const OperationHeader& header, const Ended& ended);
  void rest(bool rests) { rests_ = rests; }  // a device that records must not be asked
  void drain();                              // the host waits for all that was started. Throws CollectiveError
  bool has_failed() const { return has_failed_; }
  void require_health() const;  // throws CollectiveError with the first failure
  // From any thread: the first sentence stays, and all communicators are aborted. Throws it as CollectiveError.
  [[noreturn]] void fail(const std::string& sentence);

 private:
  using Clock = std::chrono::steady_clock;
  struct Started {
    OperationHeader header;
    Ended ended;
  };
  struct Lane {
    const NcclGroup* group = nullptr;
    std::deque<Started> under_way;
    OperationOrder order;
    Clock::time_point oldest_since;  // that its oldest has been the oldest
    bool has_told = false;           // the peers, what it is
  };
  struct Stuck {
    const NcclGroup* group;
    OperationHeader header;
    sim::Seconds waited;
    bool has_told;
  };
  sim::Rank rank() const { return sim::Rank(settings_.place.rank); }
  void look_until_the_end();
  void look();
  void require_no_error();
  NcclStatus state_of(const NcclGroup& group);
  void require_all_to_come();
  std::vector<Stuck> forget_what_has_ended();
  void compare_with_peers(const Stuck& stuck);
  void compare_orders();
  [[noreturn]] void fail_by(const NcclGroup& group, const OperationHeader& theirs, const OperationHeader& ours, sim::Rank peer);
  [[noreturn]] void fail_by_difference(const NcclGroup& group, sim::Rank peer);
  [[noreturn]] void fail_after(const Stuck& stuck);
  std::string last_operations();

  const NcclSettings& settings_;
  std::mutex asked_;          // held while NCCL is asked about a handle, or ends all of them
  mutable std::mutex mutex_;  // of everything below but the thread
  std::condition_variable wake_;
  std::map<std::int32_t, Lane> lanes_;  // by number of the group
  std::vector<NcclHandle> handles_;
  const NcclGroup* making_ = nullptr;
  Clock::time_point making_since_;
  std::vector<Ended> spare_;
  std::deque<std::pair<const NcclGroup*, OperationHeader>> last_;
  Clock::time_point compared_ = Clock::now();
  bool ends_ = false;
  std::string failure_;  // the first; all later calls repeat it
  std::atomic<bool> has_failed_ = false, rests_ = false;
  std::thread thread_;  // from the first group on
};

}  // namespace executor
