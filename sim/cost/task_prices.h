// The time of every task of a plan, apart from where it runs: kernels, flat buffers, collectives, corrections; the one place where a
// cost becomes clock time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/clock/host_clock.h"
#include "sim/cost/collective_prices.h"
#include "sim/cost/kernel_prices.h"
#include "sim/cost/modelled_kernels.h"
#include "sim/cost/placement.h"
#include "sim/cost/task_kernels.h"

namespace sim {

class TaskPrices {
 public:
  // Model and plan must outlive this. Prices are remembered: one object a thread.
  TaskPrices(const TaskPrices&) = delete;
  TaskPrices(const ModelGraph& model, const ParallelPlan& plan);
  ~TaskPrices();

  struct Computation {
    SimTime duration{}, issue{};  // of the device, of the host
    bool drains = false;          // the host waits for its end
  };
  Computation layer_task(const LayerTask& task);             // Forward, Recompute, Backward: computation
  SimTime flat_task(const TaskKey& key, Elements elements);  // Accumulate, NormPart, Update, HostUpdate
  // Of the host, for the tensors that a rank steps: half of its time for each on NormPart, half on Update. The clipped norm is read by it.
  bool reads_norm() const { return modelled_ && plan_.cluster.software.host_per_tensor.count() > 0; }
  SimTime stepping(const TaskKey& key, std::span<const Bucket> buckets) const;
  SimTime coding(const TaskKey& key, const Bucket& bucket) const;  // Encode, Reencode, Decode
  SimTime host_copy(const TaskKey& key, Bytes payload) const;
  struct Collective {
    SimTime duration{};
    double port = 0, uplink = 0;  // shares of the links while it runs
    bool drains = false;          // the host waits for its end
  };
  // parts: of a bucket whose tensors are dealt to owners.
  Collective collective(const TaskKey& key, Bytes payload, const GroupPlacement& group, CollectiveShape::Parts parts = {});
  Collective unit_exchange(const TaskKey& key, const Bucket& bucket, Bytes payload, const GroupPlacement& group);  // of a bucket's numbers
  SimTime post(const TaskKey& key, const GroupPlacement& pair) const;                                              // Send
  Collective receive(const TaskKey& key, Bytes payload, const GroupPlacement& pair);  // what is left of the transfer after the send

  const Placement& placement() const { return placement_; }
  // Share of a node's cores that one rank takes; 0: cores are not shared, or the prices hold the contention already.
  double core_share() const;
  double overlap_slowdown() const;   // of kernels while a collective runs beside them; 0: none
  double exchange_slowdown() const;  // while tokens are exchanged beside them, whose kernels keep some multiprocessors
  bool shares_device() const { return overlap_slowdown() > 0 || exchange_slowdown() > 0; }
  // Elements that a data rank updates and accumulates of a bucket; that it takes into the norm.
  Elements updated(const Bucket& bucket, Operation by = Operation::Update) const;  // by the device, or HostUpdate: by the host
  double orthogonalized(const Bucket& bucket) const;

 private:
  struct ExpertExchange {
    double load = 1;
    LinkClock::Copies copies{};
  };
  ExpertExchange expert_exchange() const;
  double stepped_tensors(const Bucket& bucket) const;
  const std::vector<Piece>& pieces(LayerIndex layer, Phase phase) const;
  bool gathers_in_eight(const TaskKey& key) const;
  Seconds sum_of(const TaskKernels& kernels) const;
  Work work_of(const TaskKernels& kernels) const;
  double exposed_beside(const TaskKey& key, Seconds time) const;
  Seconds cast_of(const LayerTask& task) const;
  CollectiveShape::Parts parts_of(const TaskKey& key, const Bucket& bucket) const;
  Seconds casts(const TaskKey& key, Bytes payload) const;
  SimTime of_lists(const TaskKey& key, const Bucket& bucket) const;
  Seconds host_update(Elements elements) const;
  double swapped_bytes() const;
  Seconds host_wait() const;
  Bytes message(Bytes payload) const;
  Seconds gathered_logits(const TaskKernels& kernels);
  SimTime corrected(const TaskKey& key, Seconds time) const;

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  Placement placement_;
  KernelPrices kernels_;
  std::optional<ModelledKernels> modelled_;  // where the profile describes kernels and nothing was measured
  CollectivePrices collectives_;
  mutable std::map<std::pair<LayerKind, Phase>, std::vector<Piece>> pieces_;  // as far as they were asked for
  double pace_;                                                               // of everything, as far as runs were learned from
  HostClock host_;                                                            // of a GPU; a CPU rank is its own host
  bool weights_on_drives_ = false;                                            // of the rank, all
  struct Apart;
  std::unique_ptr<Apart> apart_;  // of units in a precision of their own, where the plan has some
};

}  // namespace sim
