#include "executor/training/priority_sums.h"

#include "executor/training/precision.h"
#include "sim/units/input_error.h"

namespace executor {

PrioritySums::PrioritySums(const sim::ParallelPlan& plan, MeshCommunicators& communicators, ParameterStore& parameters,
                           TraceRecorder* recorder)
    : plan_(plan), communicators_(communicators), parameters_(parameters), recorder_(recorder) {
  if (!parameters.device().is_cpu())
    throw sim::InputError(
        "",
        {{"/partition_size", "partitions of gradients are queued by priority on CPU ranks alone, and this is " + parameters.device().str(),
          "start it with --device cpu, or leave partition_size and credit_size out"}});
}

void PrioritySums::begin_step(std::int64_t step) {
  step_ = step;
  goes_on_ = !sums_.empty();
}

bool PrioritySums::takes(const sim::Task& task) {
  if (task.priority >= 0) {
    add(task);
    return true;
  }
  if (task.key.operation != sim::Operation::Update) {
    go_on();
    return false;
  }
  const auto sum = sums_.find(task.bucket);
  while (sum != sums_.end() && sum->second.left > 0) go_on();
  return false;
}

std::optional<std::int64_t> PrioritySums::take(sim::BucketIndex bucket) {
  const auto sum = sums_.find(bucket);
  if (sum == sums_.end()) return std::nullopt;
  while (sum->second.left > 0) go_on();
  return sums_.extract(sum).mapped().step;
}

// The parts of a bucket follow each other, and the last one ends with it.
void PrioritySums::add(const sim::Task& task) {
  const at::ScalarType wire = wire_type(plan_, task.key.layer);
  const std::int64_t elements = task.payload.value() / static_cast<std::int64_t>(c10::elementSize(wire));
  Sum& sum = sums_[task.bucket];
  const at::Tensor gradients = parameters_.bucket(task.bucket).gradients().narrow(0, sum.elements, elements);
  sum = {.step = step_, .elements = sum.elements + elements, .left = sum.left + 1};
  ready_.emplace(std::pair(task.priority, added_++), Part{.task = task, .gradients = gradients, .wire = {}, .work = nullptr, .begun = {}});
}

// A part is sent while there is credit, however large it is, as the simulator has it.
void PrioritySums::go_on() {
  for (Part& part : under_way_) finish(part);
  under_way_.clear();
  for (sim::Bytes bytes{}; !ready_.empty() && bytes < plan_.credit_size; bytes += under_way_.back().task.payload)
    start(std::move(ready_.extract(ready_.begin()).mapped()));
}

void PrioritySums::start(Part part) {
  part.begun = std::chrono::steady_clock::now();
  part.wire = part.gradients.to(wire_type(plan_, part.task.key.layer));
  part.work = communicators_.of(part.task.key.group).all_reduce(part.wire, ReduceOperation::Sum, part.task.key);
  under_way_.push_back(std::move(part));
}

void PrioritySums::finish(Part& part) {
  part.work->wait();
  if (!part.wire.is_same(part.gradients)) part.gradients.copy_(part.wire);
  --sums_.at(part.task.bucket).left;
  if (recorder_ != nullptr) recorder_->add_task(part.task, {.begun = part.begun, .ended = std::chrono::steady_clock::now()});
}

}  // namespace executor
