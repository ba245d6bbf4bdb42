#include "executor/training/task_runner.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "executor/training/precision.h"
#include "executor/training/profiler_range.h"
#include "sim/plan/scaled_products.h"

namespace executor {
namespace {
template <typename... Values>
constexpr std::uint32_t set_of(Values... values) {
  return (... | (1U << static_cast<std::uint32_t>(values)));
}

}  // namespace

TaskRunner::TaskRunner(const sim::ModelGraph& model, const sim::ParallelPlan& plan, MeshCommunicators& communicators,
                       ParameterStore& parameters, const RunnerOptions& options)
    : plan_(plan),
      communicators_(communicators),
      parameters_(parameters),
      options_(options),
      stage_(model, plan, communicators.rank(), parameters),
      optimizer_(plan, communicators.rank(), parameters),
      codecs_(plan, parameters),
      streams_(parameters.device()),
      graph_(with_communication(options.graph, communicators)) {
  const sim::TaskGraph graph = sim::lower(model, plan);
  slice_ = sim::rank_slice(graph, plan, communicators.rank());
  waits_ = waits_of_slice(graph, plan, communicators.rank());
  ended_.resize(slice_.size());
  if (plan.sums_by_priority()) sums_.emplace(plan, communicators, parameters, options.recorder);
  parameters_.ask_by({.largest = [this](const at::Tensor& own) { ask_within(own, ReduceOperation::Maximum); },
                      .sum = [this](const at::Tensor& own) { ask_within(own, ReduceOperation::Sum); },
                      .tiles_of_rows = [this] { return stage_.tiles_of_rows(slice_[position_].key); }});
}

StepSummary TaskRunner::run_step(StepBatch batch, Optimizer::Request request) {
  const ProfilerRange range(batch.step);
  step_ = batch.step;
  request_ = request;
  communicators_.take_ledger();  // what happened between steps is no part of one
  if (options_.heartbeat) options_.heartbeat->begin_step({step_});
  const std::int64_t all = plan_.workload.global_batch * sim::tokens_in(sim::Tokens::Target, plan_.model, plan_.workload.sequence);
  const std::int64_t tokens = batch.tokens_with_loss > 0 ? batch.tokens_with_loss : all;
  stage_.set_loss_factor(optimizer_.loss_scale().scale / static_cast<double>(tokens));
  optimizer_.begin_step(tokens);
  stage_.begin_step(std::move(batch));
  parameters_.begin_step();
  if (sums_) sums_->begin_step(step_);
  streams_.split();
  if (options_.recorder) options_.recorder->begin_step(step_, streams_.now_on(DeviceStream::Compute));
  issue_all();
  if (sums_) agree_on_loss();
  end_step();
  parameters_.scale_history().end_step();
  end_record();
  return optimizer_.end_step();
}

// All streams are part of what is captured, and end in that of computing. A replay passes the tasks that it performs: who waits for them is told here
// where they end.
void TaskRunner::issue_all() {
  const std::size_t captured = captured_tasks(slice_);
  graph_.run([&] {
    stage_.begin_tasks();
    if (graph_.is_capturing()) streams_.split();
    for (std::size_t position = 0; position < captured; ++position) issue(position);
    if (graph_.is_capturing()) streams_.join();
  });
  for (std::size_t position = 0; graph_.is_replayed() && position < captured; ++position)
    if (waits_[position].is_waited_for) ended_[position] = streams_.now_on(DeviceStream::Compute);
  for (std::size_t position = captured; position < slice_.size(); ++position) issue(position);
}

void TaskRunner::issue(std::size_t position) {
  const sim::Task& task = slice_[position];
  const DeviceStream stream = device_stream(task.stream);
  if (options_.heartbeat) options_.heartbeat->begin_task(task.key);
  if (sums_ && sums_->takes(task)) return;
  if (!asked_.empty()) {  // within the computation in front, which has ended
    if (options_.recorder) options_.recorder->add_task(task, asked_.front());
    if (waits_[position].is_waited_for) ended_[position] = streams_.now_on(DeviceStream::Compute);
    return asked_.pop_front();
  }
  position_ = position;
  give_up_sent();
  for (const std::size_t before : waits_[position].before) streams_.wait(stream, ended_[before]);
  if (task.key.phase == sim::Phase::Backward && stream == DeviceStream::Compute) before_backward(task.key.layer);
  {
    const OnStream on(streams_, stream);
    const ProfilerRange range(task.key);
    const bool has_span = options_.recorder != nullptr && options_.recorder->times_tasks() && !graph_.is_capturing();
    if (has_span) options_.recorder->begin_task(streams_.now_on(stream));
    perform(task);
    if (has_span) options_.recorder->end_task(task, streams_.now_on(stream));
  }
  if (waits_[position].is_waited_for) ended_[position] = streams_.now_on(stream);
}

// The next reduction begins, or a backward is about to add to what one reads: on a device, one is under way at most. Its gradients were taken by
// computing, so computing waits before they are freed.
void TaskRunner::finish_reductions() {
  if (reducing_.empty()) return;
  streams_.wait(DeviceStream::Compute, streams_.now_on(DeviceStream::Reduce));
  for (const sim::BucketIndex bucket : std::exchange(reducing_, {})) parameters_.bucket(bucket).finish_reduction();
}

void TaskRunner::before_backward(sim::LayerIndex layer) {
  const auto& buckets = parameters_.buckets_of(layer);
  const auto is_read = [&](sim::BucketIndex bucket) {
    return std::find(buckets.begin(), buckets.end(), bucket.position()) != buckets.end();
  };
  if (std::any_of(reducing_.begin(), reducing_.end(), is_read)) finish_reductions();
}

// Keeps a tensor until another stream has read what it was given up to now.
void TaskRunner::lend(at::Tensor tensor, DeviceStream reader) {
  if (streams_.are_concurrent()) lent_.push_back({.tensor = std::move(tensor), .until = streams_.now_on(reader)});
}

void TaskRunner::take_back() {
  for (auto buffer = received_.begin(); buffer != received_.end();) {
    const bool is_unused = buffer->storage().use_count() == 1;
    if (is_unused) lend(*buffer, DeviceStream::Compute);
    buffer = is_unused ? received_.erase(buffer) : std::next(buffer);
  }
  lent_.remove_if([](const Lent& lent) { return lent.until->query(); });
}

TaskRunner::Perform TaskRunner::find(const sim::TaskKey& key) {
  using enum sim::Phase;
  using enum sim::Operation;
  using Axis = sim::MeshAxis;
  constexpr std::uint32_t kBothWays = set_of(Forward, Backward), kEachPass = set_of(Forward, Recompute, Backward);
  constexpr std::uint32_t kEachTurn = set_of(Forward, Backward, Gradients), kSums = set_of(Gradients), kStep = set_of(Step);
  constexpr std::uint32_t kCopies = set_of(Axis::Data, Axis::ExpertData), kOwn = set_of(Axis::None);
  struct Row {
    std::uint32_t phases;
    sim::Operation operation;
    std::uint32_t groups;
    Perform perform;
  };
  static constexpr auto kRows = std::to_array<Row>({
      {kEachPass, AllReduce, set_of(Axis::Tensor), &TaskRunner::sum_over_tensor_ranks},
      {kEachPass, AllGather, set_of(Axis::Tensor), &TaskRunner::gather_over_tensor_ranks},
      {kEachPass, ReduceScatter, set_of(Axis::Tensor), &TaskRunner::scatter_over_tensor_ranks},
      {kEachPass, AllGather, set_of(Axis::Context), &TaskRunner::exchange_over_context_ranks},
      {kEachPass, AllToAll, set_of(Axis::Context, Axis::ContextInner), &TaskRunner::exchange_over_context_ranks},
      {kEachPass, RingHop, set_of(Axis::Context, Axis::ContextOuter), &TaskRunner::exchange_over_context_ranks},
      {set_of(Backward), ReduceScatter, set_of(Axis::Context), &TaskRunner::exchange_over_context_ranks},
      {kBothWays, Receive, set_of(Axis::Pipeline), &TaskRunner::receive},
      {kBothWays, Send, set_of(Axis::Pipeline), &TaskRunner::send},
      {kEachPass, AllToAll, set_of(Axis::Expert), &TaskRunner::exchange_tokens},
      {kEachPass, AllGather, set_of(Axis::ExpertTensor), &TaskRunner::share_rows},
      {kEachPass, ReduceScatter, set_of(Axis::ExpertTensor), &TaskRunner::share_rows},
      {kBothWays, AllGather, kCopies, &TaskRunner::gather_for_layer},
      {set_of(Backward), AllReduce, set_of(Axis::Data), &TaskRunner::share_statistics},
      {kBothWays, AllGather, set_of(Axis::Reshard), &TaskRunner::gather_from_neighbours},
      {kBothWays, Reshard, kOwn, &TaskRunner::reshard},
      {kSums, AllReduce, kCopies | set_of(Axis::Embedding), &TaskRunner::reduce_gradients},
      {kSums, AllReduce, set_of(Axis::Tensor), &TaskRunner::sum_replicated_gradients},
      {kSums, ReduceScatter, kCopies, &TaskRunner::scatter_gradients},
      {kSums, AllReduce, set_of(Axis::Replica), &TaskRunner::reduce_over_replicas},
      {kEachTurn, Encode, kOwn, &TaskRunner::encode},
      {kSums, Reencode, kOwn, &TaskRunner::reencode},
      {kEachTurn, Decode, kOwn, &TaskRunner::decode},
      {kSums, AllToAll, kCopies | set_of(Axis::Reshard, Axis::Distant), &TaskRunner::exchange_codes},
      {kSums, Accumulate, kOwn, &TaskRunner::accumulate},
      {kSums, CopyToHost, kOwn, &TaskRunner::copy_to_host},
      {set_of(Forward), CopyToHost, kOwn, &TaskRunner::keep_on_host},
      {kBothWays, CopyToDevice, kOwn, &TaskRunner::bring_back},
      {kSums, CopyToDevice, kOwn, &TaskRunner::bring_gradients},
      {kStep, NormPart, kOwn, &TaskRunner::sum_up},
      {kStep, AllReduce, set_of(Axis::World), &TaskRunner::sum_over_world},
      {kStep, Update, kOwn, &TaskRunner::update},
      {kStep, HostUpdate, kOwn, &TaskRunner::update},
      {kStep, CopyToDevice, kOwn, &TaskRunner::copy_to_device},
      {kStep, AllGather, kCopies, &TaskRunner::gather_after_update},
      {kStep, Broadcast, kCopies, &TaskRunner::send_weights},
  });
  const auto is_it = [&](const Row& row) {
    return (row.phases & set_of(key.phase)) != 0 && row.operation == key.operation && (row.groups & set_of(key.group)) != 0;
  };
  const auto found = std::ranges::find_if(kRows, is_it);
  return found == kRows.end() ? nullptr : found->perform;
}

void TaskRunner::perform(const sim::Task& task) {
  if (options_.faults && options_.faults->is_armed()) options_.faults->reach(fmt::format("step.{}.{}", step_, sim::to_text(task.key)));
  if (const Perform function = find(task.key))
    (this->*function)(task);
  else {
    const PutOff put_off(has_exchange_behind(task.key) ? &beside_exchange_ : nullptr, PutOff::Products::Entering);
    stage_.perform(task.key);
  }
}

bool TaskRunner::has_exchange_behind(const sim::TaskKey& key) const {
  const bool may_wait = plan_.exchanges_beside_weights() && streams_.are_concurrent();
  if (!may_wait || key.phase != sim::Phase::Backward || sim::asks_within_computations(plan_)) return false;
  const sim::TaskKey& next = slice_.at(position_ + 1).key;  // steps end behind all backwards
  return next.group == sim::MeshAxis::Tensor && next.phase == key.phase && next.operation != sim::Operation::AllGather;
}

// Starts the exchange behind what computing has issued; weight gradients that were put off for it are computed meanwhile.
void TaskRunner::exchange_beside_weights(const std::function<WorkHandle()>& start) {
  if (beside_exchange_.is_empty()) return start()->wait();
  streams_.wait(DeviceStream::Tensor, streams_.now_on(DeviceStream::Compute));
  streams_.make_current(DeviceStream::Tensor);
  const WorkHandle work = start();
  streams_.make_current(DeviceStream::Compute);
  beside_exchange_.perform();
  streams_.make_current(DeviceStream::Tensor);
  work->wait();
  streams_.make_current(DeviceStream::Compute);
  streams_.wait(DeviceStream::Compute, streams_.now_on(DeviceStream::Tensor));
}

// In the head's forward the first of two is a maximum.
void TaskRunner::sum_over_tensor_ranks(const sim::Task& task) {
  const bool is_loss = task.key.phase == sim::Phase::Forward && task.key.layer == plan_.head();
  const bool is_maximum = is_loss && task.key.sequence == 0;
  const ReduceOperation how = is_maximum ? ReduceOperation::Maximum : ReduceOperation::Sum;
  exchange_beside_weights([&] { return communicators_.of(sim::MeshAxis::Tensor).all_reduce(stage_.partial(task.key), how, task.key); });
}

// Between a chunk and its neighbour.
at::Tensor TaskRunner::empty_stream(const sim::TaskKey& receive) const {
  const sim::LayerRange chunk = plan_.layers(receive.stage, receive.chunk);
  const std::int64_t tokens = plan_.shard_shape().tokens() / (plan_.sequence_parallel ? plan_.mesh.tensor : 1);
  const at::ScalarType type = stage_.type_into(receive.phase == sim::Phase::Forward ? chunk.begin : chunk.end);
  return at::empty({tokens, plan_.model.hidden}, parameters_.options().dtype(type));
}

// Sequence parallelism: every rank's stretch of the tokens becomes all tokens, and a sum of all tokens becomes the own stretch of it. Of heads that ranks
// share likewise: rank after rank its columns of all tokens.
void TaskRunner::gather_over_tensor_ranks(const sim::Task& task) {
  stage_.begin_again(task.key);
  const at::Tensor own = stage_.partial(task.key), whole = at::empty({own.size(0) * plan_.mesh.tensor, own.size(1)}, own.options());
  communicators_.of(sim::MeshAxis::Tensor).all_gather(whole, own, task.key)->wait();
  stage_.partial(task.key) = whole;
}

void TaskRunner::scatter_over_tensor_ranks(const sim::Task& task) {
  const at::Tensor whole = stage_.partial(task.key), own = at::empty({whole.size(0) / plan_.mesh.tensor, whole.size(1)}, whole.options());
  exchange_beside_weights([&] { return communicators_.of(sim::MeshAxis::Tensor).reduce_scatter(own, whole, task.key); });
  stage_.partial(task.key) = own;
}

void TaskRunner::exchange_over_context_ranks(const sim::Task& task) {
  const Exchange exchange = stage_.exchange(task.key);
  Communicator& context = communicators_.of(task.key.group);
  const auto start = [&] {
    switch (task.key.operation) {
      case sim::Operation::AllGather: return context.all_gather(exchange.to, exchange.from, task.key);
      case sim::Operation::ReduceScatter: return context.reduce_scatter(exchange.to, exchange.from, task.key);
      case sim::Operation::AllToAll: return context.all_to_all(exchange.to, exchange.from, task.key);
      default: return context.ring_hop(exchange.to, exchange.from, task.key);
    }
  };
  start()->wait();
}

// Parameters that every tensor rank holds whole saw its stretch of the tokens, or its heads, only. Of a data rank's shard its part is summed; the rest is zero.
void TaskRunner::sum_replicated_gradients(const sim::Task& task) {
  const std::vector<ParameterStore::ReplicatedPart> parts = parameters_.replicated_gradients(plan_);
  const at::TensorOptions options = at::TensorOptions().dtype(parameters_.replicated_type(plan_)).device(parameters_.device());
  const at::Tensor packed = at::zeros({task.payload.value() / static_cast<std::int64_t>(options.dtype().itemsize())}, options);
  const auto place = [&](const ParameterStore::ReplicatedPart& part) { return packed.narrow(0, part.begin, part.gradient.numel()); };
  for (const auto& part : parts) place(part).copy_(part.gradient);
  communicators_.of(sim::MeshAxis::Tensor).all_reduce(packed, ReduceOperation::Sum, task.key)->wait();
  for (const auto& part : parts) part.gradient.copy_(place(part));
}

// Transfers name the peer's own rank: that of the next virtual stage or of the one before.
sim::Rank TaskRunner::neighbour(const sim::Task& task) const {
  const bool is_forward = task.key.phase == sim::Phase::Forward, sends = task.key.operation == sim::Operation::Send;
  sim::MeshCoordinate place = plan_.mesh.coordinate(communicators_.rank());
  place.stage = plan_.site(plan_.virtual_stage({task.key.stage, task.key.chunk}) + (is_forward == sends ? 1 : -1)).stage;
  return plan_.mesh.rank_of(place);
}

void TaskRunner::receive(const sim::Task& task) {
  take_back();
  const at::Tensor buffer = empty_stream(task.key);
  if (streams_.are_concurrent()) received_.push_back(buffer);
  communicators_.of(sim::MeshAxis::Pipeline).receive(buffer, neighbour(task).value(), task.key)->wait();
  stage_.put_flow(buffer, task.key);
  const auto sent = forward_sends_.find({task.key.chunk, plan_.piece_of(task.key)});
  if (task.key.phase != sim::Phase::Backward || sent == forward_sends_.end()) return;
  sent->second->wait();  // its gradient is here: it has arrived
  forward_sends_.erase(sent);
}

// What has arrived need not last.
void TaskRunner::give_up_sent() {
  std::erase_if(forward_sends_, [](const auto& send) { return send.second->has_ended(); });
  std::erase_if(backward_sends_, [](const WorkHandle& send) { return send->has_ended(); });
}

void TaskRunner::send(const sim::Task& task) {
  take_back();
  const at::Tensor flow = stage_.take_flow(task.key);
  WorkHandle work = communicators_.of(sim::MeshAxis::Pipeline).send(flow, neighbour(task).value(), task.key);
  lend(flow, DeviceStream::Send);
  if (task.key.phase == sim::Phase::Forward)
    forward_sends_[{task.key.chunk, plan_.piece_of(task.key)}] = std::move(work);
  else
    backward_sends_.push_back(std::move(work));
}

// Rows to the ranks of their experts (the first exchange of a phase), and back. How many is told before they leave for the first time, unless it is known.
// Of all ranks that a rank's rows may go to.
void TaskRunner::count_rows(const sim::TaskKey& key) {
  if (stage_.recalls_row_counts(key)) return;
  Communicator &group = communicators_.of(sim::MeshAxis::Expert), &sharers = communicators_.of(sim::MeshAxis::ExpertTensor);
  const bool are_alike = stage_.are_row_counts_alike(key);
  const auto of_all = [are_alike](Communicator& ranks, const at::Tensor& own) {
    std::vector<std::int64_t> sizes = own.sizes().vec();
    sizes.insert(sizes.begin(), ranks.size());
    if (are_alike) return own.expand(sizes).contiguous();
    const at::Tensor all = at::empty(sizes, own.options());
    ranks.all_gather(all, own, {})->wait();
    return all;
  };
  const at::Tensor all = of_all(group, stage_.row_counts(key));
  stage_.put_row_counts(sharers.size() == 1 ? all : of_all(sharers, all), key);
}

void TaskRunner::exchange_tokens(const sim::Task& task) {
  Communicator& group = communicators_.of(sim::MeshAxis::Expert);
  const bool leave = task.key.sequence == 0, are_counted = task.key.phase == sim::Phase::Backward;
  if (leave && !are_counted) count_rows(task.key);
  const TokenExchange& exchange = stage_.token_exchange(task.key);
  const at::Tensor sent = std::exchange(stage_.partial(task.key), {});
  const RowCounts &to = leave ? exchange.to : exchange.from, &from = leave ? exchange.from : exchange.to;
  const at::Tensor received = at::empty({std::accumulate(from.begin(), from.end(), std::int64_t{0}), sent.size(1)}, sent.options());
  group
      .exchange({.sent = sent,
                 .received = received,
                 .to = to,
                 .from = from,
                 .ours = leave ? RowExchange::Ours::Sent : RowExchange::Ours::Received},
                task.key)
      ->wait();
  stage_.put_rows(received, task.key);
}

// Between ranks that share experts: all get the rows of each, and what they make of them is summed on the way back, in rank order.
void TaskRunner::share_rows(const sim::Task& task) {
  Communicator& group = communicators_.of(sim::MeshAxis::ExpertTensor);
  const bool arrive = task.key.operation == sim::Operation::AllGather, are_counted = task.key.phase == sim::Phase::Backward;
  if (arrive && !are_counted && plan_.mesh.expert == 1) count_rows(task.key);
  const TokenExchange& exchange = stage_.token_exchange(task.key);
  const std::int64_t own = exchange.shared[sim::count_of(group.rank())];
  const RowCounts here(exchange.shared.size(), own);
  const at::Tensor rows = std::exchange(stage_.partial(task.key), {}), sent = arrive ? rows.repeat({group.size(), 1}) : rows;
  const RowCounts &to = arrive ? here : exchange.shared, &from = arrive ? exchange.shared : here;
  const at::Tensor received = at::empty({std::accumulate(from.begin(), from.end(), std::int64_t{0}), rows.size(1)}, rows.options());
  const std::int64_t own_rows = std::accumulate(exchange.to.begin(), exchange.to.end(), std::int64_t{0}) * group.size();
  group.exchange({.sent = sent, .received = received, .to = to, .from = from, .ours = {}, .own_rows = own_rows}, task.key)->wait();
  stage_.put_rows(arrive ? received : received.view({group.size(), own, rows.size(1)}).sum(0), task.key);
}

// Of a batch norm: rows of moments, or sums in the place of the own ones.
void TaskRunner::share_statistics(const sim::Task& task) {
  const at::Tensor own = stage_.partial(task.key);
  Communicator& ranks = communicators_.of(task.key.group);
  if (task.key.operation == sim::Operation::AllReduce) {
    ranks.all_reduce(own, ReduceOperation::Sum, task.key)->wait();
    return;
  }
  const at::Tensor all = at::empty({ranks.size(), own.numel()}, own.options());
  ranks.all_gather(all, own, task.key)->wait();
  stage_.partial(task.key) = all;
}

void TaskRunner::gather_for_layer(const sim::Task& task) {
  if (!task.bucket.exists()) return share_statistics(task);
  if (const WireCodecs::Gather codes = codecs_.gather(task); codes.all.defined()) {
    communicators_.of(task.key.group).all_gather(codes.all, codes.own, task.key)->wait();
    return;
  }
  FlatBucket& bucket = parameters_.bucket(task.bucket);
  bucket.take_weights();
  communicators_.of(task.key.group).all_gather(bucket.weights(), bucket.gathered_shard(), task.key)->wait();
}

// Each has kept a part since the last forward.
void TaskRunner::gather_from_neighbours(const sim::Task& task) {
  FlatBucket& bucket = parameters_.bucket(task.bucket);
  const at::Tensor kept = plan_.kept_until == sim::KeptUntil::Step ? bucket.kept() : bucket.take_kept();
  bucket.take_weights();
  communicators_.of(task.key.group).all_gather(bucket.weights(), kept, task.key)->wait();
  lend(kept, DeviceStream::Gather);
}

void TaskRunner::reshard(const sim::Task& task) {
  FlatBucket& bucket = parameters_.bucket(task.bucket);
  const std::int64_t data = plan_.mesh.coordinate(communicators_.rank()).data;
  if (task.payload > sim::Bytes(0)) bucket.keep_weights({.rank = data % plan_.mesh.reshard, .ranks = plan_.mesh.reshard});
  bucket.release_weights();
}

at::Tensor TaskRunner::on_wire(const at::Tensor& gradients, const sim::Task& sum) const {
  return gradients.to(wire_type(plan_, sum.key.layer));
}

void TaskRunner::take_from_wire(const at::Tensor& gradients, const at::Tensor& wire) {
  if (wire.scalar_type() == gradients.scalar_type()) return;
  gradients.copy_(wire);
  lend(wire, DeviceStream::Reduce);
}

// Around what crosses links encoded. The gradients are read until they are decoded.
void TaskRunner::encode(const sim::Task& task) {
  if (task.key.phase == sim::Phase::Gradients) finish_reductions();
  codecs_.encode(task);
}
void TaskRunner::reencode(const sim::Task& task) { codecs_.reencode(task); }
void TaskRunner::decode(const sim::Task& task) {
  codecs_.decode(task);
  if (task.key.phase != sim::Phase::Gradients) return;
  reducing_.push_back(task.bucket);
  if (sim::scatters_gradients(plan_) && !streams_.are_concurrent()) finish_reductions();
}
void TaskRunner::exchange_codes(const sim::Task& task) {
  const WireCodecs::Exchange codes = codecs_.exchange(task);
  communicators_.of(task.key.group).all_to_all(codes.received, codes.sent, task.key)->wait();
  codecs_.end_exchange(task);
}

void TaskRunner::reduce_gradients(const sim::Task& task) {
  finish_reductions();
  if (const at::Tensor factors = codecs_.summed(task); factors.defined()) {
    communicators_.of(task.key.group).all_reduce(factors, ReduceOperation::Sum, task.key)->wait();
    return;
  }
  const at::Tensor gradients = parameters_.bucket(task.bucket).gradients(), wire = on_wire(gradients, task);
  communicators_.of(task.key.group).all_reduce(wire, ReduceOperation::Sum, task.key)->wait();
  take_from_wire(gradients, wire);
  if (task.key.group != sim::MeshAxis::Embedding)
    reducing_.push_back(task.bucket);  // a tied embedding's sum over stages is not its last one
}

void TaskRunner::scatter_gradients(const sim::Task& task) {
  finish_reductions();
  FlatBucket& bucket = parameters_.bucket(task.bucket);
  const at::Tensor wire = on_wire(bucket.gradients(), task), target = bucket.reduction_target();
  const BucketRange own = bucket.own_shard();
  const at::Tensor sum = wire.is_same(bucket.gradients()) ? target : wire.narrow(0, own.begin, own.count);
  if (bucket.is_dealt())
    communicators_.of(task.key.group).reduce_to_owners(sum, {wire, bucket.owned_elements()}, task.key)->wait();
  else {
    communicators_.of(task.key.group).reduce_scatter(sum, wire, task.key)->wait();
  }
  take_from_wire(target, sum);
  reducing_.push_back(task.bucket);
  if (!streams_.are_concurrent()) finish_reductions();
}

// Of the own shard, or of all where gradients are not scattered.
void TaskRunner::reduce_over_replicas(const sim::Task& task) {
  const FlatBucket& bucket = parameters_.bucket(task.bucket);
  const bool is_whole = bucket.stepped().count == bucket.layout().elements || !sim::scatters_gradients(plan_);
  const at::Tensor gradients = is_whole ? bucket.gradients() : bucket.reduction_target(), wire = on_wire(gradients, task);
  communicators_.of(sim::MeshAxis::Replica).all_reduce(wire, ReduceOperation::Sum, task.key)->wait();
  take_from_wire(gradients, wire);
}

void TaskRunner::accumulate(const sim::Task& task) { parameters_.bucket(task.bucket).accumulate(); }

}  // namespace executor
