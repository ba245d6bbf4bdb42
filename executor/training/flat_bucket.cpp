#include "executor/training/flat_bucket.h"

#include <ATen/ops/_foreach_zero.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>

#include "executor/model/gradient_place.h"
#include "executor/model/storage_memory.h"
#include "executor/training/host_buffer.h"
#include "sim/units/at.h"

namespace executor {
namespace {

void resize_storage(const at::Tensor& tensor, std::int64_t elements) {
  executor::resize_storage(*tensor.storage().unsafeGetStorageImpl(), sim::count_of(elements) * tensor.element_size());
}

std::int64_t blocks_in(std::int64_t elements) { return (elements + sim::kMomentBlock - 1) / sim::kMomentBlock; }

}  // namespace

FlatBucket::FlatBucket(sim::Bucket bucket, const BucketPlan& plan) : layout_(std::move(bucket)), plan_(plan) {
  const std::int64_t whole = layout_.elements, shard = own_shard().count;
  const at::TensorOptions weights = is_packed() ? plan_.options.dtype(at::kByte) : plan_.options;
  weights_ = at::empty({stored()}, weights);
  if (plan_.shards_weights) {
    if (!plan_.weights_on_host) weight_shard_ = at::zeros({stored_shard().count}, weights);
    release_weights();
  } else
    weights_.zero_();
  if (layout_.frozen) {
    keep_on_host();
    return;
  }
  const at::TensorOptions gradients = plan_.options.dtype(plan_.gradient_type);
  gradients_ = at::empty({whole}, gradients);
  places_.resize(layout_.slots.size());
  if (plan_.shards_gradients) {
    resize_storage(gradients_, 0);
    reduced_ = at::zeros({shard}, gradients);
  }
  if (plan_.gives_up_gradients) give_up_gradients();
  if (plan_.sums_microbatches) summed_ = at::zeros({stepped().count}, gradients);
  make_state();
  keep_on_host();
}

void FlatBucket::keep_on_host() {
  if (!plan_.weights_on_host) return;
  const HostBufferForm form{.device = plan_.options.device(), .type = c10::typeMetaToScalarType(weights_.dtype())};
  weight_shard_ = layout_.frozen ? host_buffer({stored_shard().count}, form).zero_() : host_weights_.defined() ? host_weights_ : master_;
  for (const at::Tensor& passing : {gradients_, summed_})
    if (passing.defined()) resize_storage(passing, 0);
}

void FlatBucket::make_state() {
  const std::int64_t elements = stepped().count;
  const bool is_rounded = c10::typeMetaToScalarType(plan_.options.dtype()) != plan_.master_type;
  const auto on_host = [&](at::ScalarType type, std::int64_t kept) {
    return host_buffer({kept}, {.device = plan_.options.device(), .type = type}).zero_();
  };
  const auto state = [&](at::ScalarType type, std::int64_t kept) {
    return plan_.offloads_optimizer ? on_host(type, kept) : at::zeros({kept}, plan_.options.dtype(type));
  };
  if (is_rounded || plan_.offloads_optimizer) master_ = state(plan_.master_type, elements);
  for (std::int64_t moment = 0; moment < plan_.moments; ++moment) {
    moments_.push_back(state(plan_.moment_type, moment == 0 ? elements : elements - left_out(stepped().end())));
    if (plan_.moment_type == at::kByte) moment_scales_.push_back(state(at::kFloat, blocks_in(elements)));
  }
  if (!plan_.offloads_optimizer) return;
  host_gradients_ = on_host(plan_.gradient_type, elements);
  if (is_rounded) host_weights_ = on_host(c10::typeMetaToScalarType(plan_.options.dtype()), elements);
}

std::vector<std::int64_t> FlatBucket::owned_elements() const {
  std::vector<std::int64_t> elements;
  for (std::int32_t shard = 0; shard < layout_.shards; ++shard) elements.push_back(sim::range_of(layout_, shard).count);
  return elements;
}

BucketRange FlatBucket::own_shard() const {
  const sim::ShardRange owned = sim::range_of(layout_, static_cast<std::int32_t>(plan_.data_rank));
  return {.begin = owned.begin, .count = owned.count};
}

// Frozen buckets are cut into equal parts, also where owners have whole tensors.
BucketRange FlatBucket::stored_shard() const {
  if (!is_packed()) return own_shard();
  const std::int64_t parts = layout_.elements / layout_.shard_elements, bytes = stored() / parts;
  return {.begin = parts == 1 ? 0 : plan_.data_rank * bytes, .count = bytes};
}

BucketRange FlatBucket::resident() const { return plan_.shards_weights ? own_shard() : BucketRange{.begin = 0, .count = layout_.elements}; }
BucketRange FlatBucket::stepped() const {
  return plan_.shards_optimizer ? own_shard() : BucketRange{.begin = 0, .count = layout_.elements};
}

at::Tensor FlatBucket::weight_shard() const {
  return plan_.shards_weights ? weight_shard_ : weights_.narrow(0, stored_shard().begin, stored_shard().count);
}

void FlatBucket::take_weights() { resize_storage(weights_, stored()); }
void FlatBucket::release_weights() {
  if (plan_.shards_weights) resize_storage(weights_, 0);
}

void FlatBucket::bring_weights() {
  take_weights();
  gathered_shard().copy_(weight_shard_, /*non_blocking=*/true);
}

at::Tensor FlatBucket::gathered_shard() const {
  return plan_.weights_on_host ? weights_.narrow(0, stored_shard().begin, stored_shard().count) : weight_shard();
}

void FlatBucket::keep_weights(Part part) {
  const std::int64_t size = stored() / part.ranks;
  kept_ = at::empty({size}, weights_.options());
  kept_.copy_(weights_.narrow(0, part.rank * size, size));
}
at::Tensor FlatBucket::take_kept() { return std::exchange(kept_, {}); }

void FlatBucket::start_gradients() {
  if (filling_ || layout_.frozen) return;
  const bool has_memory = has_started_ && gradients_.storage().nbytes() > 0;
  filling_ = has_started_ = true;
  resize_storage(gradients_, layout_.elements);
  if (!has_memory) clear_gaps();
  for (const at::Tensor& place : places_)
    if (place.defined()) begin_gradient(place);
}

// A slot without a leaf is a gap, too.
void FlatBucket::clear_gaps() {
  if (gaps_.empty()) {
    std::vector<BucketRange> slots{{.begin = layout_.elements}};
    for (std::size_t at = 0; at < places_.size(); ++at)
      if (places_[at].defined()) slots.push_back({.begin = layout_.slots[at].offset, .count = layout_.slots[at].elements});
    std::sort(slots.begin(), slots.end(), [](const BucketRange& a, const BucketRange& b) { return a.begin < b.begin; });
    std::int64_t end = 0;
    for (const BucketRange& slot : slots) {
      if (slot.begin > end) gaps_.push_back(gradients_.narrow(0, end, slot.begin - end));
      end = slot.end();
    }
  }
  if (!gaps_.empty()) at::_foreach_zero_(gaps_);
}

const at::Tensor& FlatBucket::gradients() const {
  for (const at::Tensor& place : places_) started(place);
  return gradients_;
}

at::Tensor FlatBucket::reduction_target() const {
  if (plan_.shards_gradients) resize_storage(reduced_, reduced_.numel());
  return plan_.shards_gradients ? reduced_ : gradients().narrow(0, own_shard().begin, own_shard().count);
}

void FlatBucket::finish_reduction() {
  if (plan_.shards_gradients) resize_storage(gradients_, 0);
}

void FlatBucket::give_up_gradients() {
  resize_storage(gradients_, 0);
  if (reduced_.defined()) resize_storage(reduced_, 0);
}

void FlatBucket::accumulate() {
  add_gradient(summed_, plan_.shards_optimizer ? reduction_target() : gradients());
  filling_ = false;
  if (plan_.weights_on_host) resize_storage(gradients_, 0);
}

void FlatBucket::begin_step() {
  filling_ = false;
  if (summed_.defined() && !plan_.weights_on_host) begin_gradient(summed_);
}

// A buffer of `stepped()` elements, seen through a range of the bucket.
at::Tensor FlatBucket::within(const at::Tensor& buffer, BucketRange range) const {
  return buffer.narrow(0, range.begin - stepped().begin, range.count);
}

at::Tensor FlatBucket::final_gradients(BucketRange range) const {
  if (plan_.weights_on_host) return within(host_gradients_, range);
  if (summed_.defined()) return within(started(summed_), range);
  return plan_.shards_gradients ? within(reduced_, range) : gradients().narrow(0, range.begin, range.count);
}

at::Tensor FlatBucket::weights_of(BucketRange range) const {
  return plan_.shards_weights ? weight_shard_.narrow(0, range.begin - own_shard().begin, range.count)
                              : weights_.narrow(0, range.begin, range.count);
}

at::Tensor FlatBucket::master(BucketRange range) const { return has_master() ? within(master_, range) : weights_of(range); }
void FlatBucket::round_master() {
  if (has_master()) weights_of(stepped()).copy_(master_);
  stage_weights();
}

at::Tensor FlatBucket::rounded_weights() const {
  if (plan_.offloads_optimizer) return host_weights_;
  return has_master() ? weights_of(stepped()) : at::Tensor();
}

void FlatBucket::stage_weights() {
  if (host_weights_.defined()) host_weights_.copy_(master_);
}

at::Tensor FlatBucket::stepped_gradients() const { return plan_.offloads_optimizer ? host_gradients_ : final_gradients(stepped()); }

void FlatBucket::copy_gradients_to_host() {
  if (!plan_.weights_on_host) {
    host_gradients_.copy_(final_gradients(stepped()), /*non_blocking=*/true);
    return;
  }
  const bool has_sum = summed_.defined() && summed_.storage().nbytes() > 0;
  const at::Tensor& leaves = has_sum ? summed_ : gradients_;
  host_gradients_.copy_(has_sum ? summed_ : reduction_target());
  resize_storage(leaves, 0);
  filling_ = false;
}

void FlatBucket::bring_gradients() {
  resize_storage(summed_, summed_.numel());
  summed_.copy_(host_gradients_);
}

void FlatBucket::copy_weights_to_device() {
  weights_of(stepped()).copy_(host_weights_.defined() ? host_weights_ : master_, /*non_blocking=*/true);
}

at::Tensor FlatBucket::moment(std::int64_t index, BucketRange range) const {
  if (index > 0) range.begin -= left_out(range.begin);
  return within(sim::at(moments_, index), range);
}

at::Tensor FlatBucket::moment_scales(std::int64_t index, BucketRange range) const {
  if (moment_scales_.empty()) return {};
  return sim::at(moment_scales_, index).narrow(0, (range.begin - stepped().begin) / sim::kMomentBlock, blocks_in(range.count));
}

std::int64_t FlatBucket::left_out(std::int64_t end) const {
  if (!plan_.matrices_keep_one) return 0;
  std::int64_t elements = 0;
  for (const sim::BucketSlot& slot : layout_.slots) {
    const std::int64_t from = std::max(slot.offset, stepped().begin), to = std::min({slot.offset + slot.elements, stepped().end(), end});
    if (slot.is_matrix_of_block && to > from) elements += to - from;
  }
  return elements;
}

FlatBucket::Bytes FlatBucket::bytes() const {
  const auto of = [](const at::Tensor& tensor) {
    return sim::Bytes(tensor.defined() ? static_cast<std::int64_t>(tensor.storage().nbytes()) : 0);
  };
  Bytes held{.weights = of(weights_) + of(plan_.weights_on_host ? at::Tensor() : weight_shard_) + of(kept_),
             .gradients = of(gradients_) + of(reduced_) + of(summed_),
             .host = of(host_gradients_) + of(host_weights_) + of(plan_.weights_on_host && layout_.frozen ? weight_shard_ : at::Tensor())};
  sim::Bytes& state = plan_.offloads_optimizer ? held.host : held.optimizer;
  state += of(master_);
  for (const at::Tensor& moment : moments_) state += of(moment);
  for (const at::Tensor& scales : moment_scales_) state += of(scales);
  return held;
}

Leaf FlatBucket::leaf(const sim::BucketSlot& slot, at::IntArrayRef shape) {
  const auto in_elements = [&](const at::Tensor& all) { return all.narrow(0, slot.offset, slot.elements).view(shape); };
  const auto in_bytes = [&](const at::Tensor& all) {
    if (slot.packed.value() > 0) return all.narrow(0, slot.packed_offset.value(), slot.packed.value());
    const std::int64_t bytes = slot.elements * static_cast<std::int64_t>(plan_.options.dtype().itemsize());
    return all.narrow(0, slot.packed_offset.value(), bytes).view(c10::typeMetaToScalarType(plan_.options.dtype())).view(shape);
  };
  const auto view = [&](const at::Tensor& buffer) -> at::Tensor {  // LibTorch makes no view of freed memory: it is taken for the moment
    if (!buffer.defined()) return {};
    const auto numbers = static_cast<std::int64_t>(buffer.storage().nbytes() / buffer.element_size());
    resize_storage(buffer, buffer.numel());
    at::Tensor result = is_packed() ? in_bytes(buffer) : in_elements(buffer);
    resize_storage(buffer, numbers);
    return result;
  };
  if (!gradients_.defined()) return {.value = view(weights_), .gradient = {}};
  const auto known = std::ranges::find(layout_.slots, slot.offset, &sim::BucketSlot::offset);
  at::Tensor& place = places_.at(static_cast<std::size_t>(known - layout_.slots.begin()));
  if (!place.defined()) place = view(gradients_);  // a second handle would not know what has come to the first
  return {.value = view(weights_), .gradient = place};
}

void FlatBucket::put_packed(const sim::BucketSlot& slot, const at::Tensor& bytes) {
  const at::Tensor& here = plan_.shards_weights ? weight_shard_ : weights_;
  const std::int64_t first = plan_.shards_weights ? stored_shard().begin : 0, offset = slot.packed_offset.value();
  const std::int64_t from = std::max(offset, first), to = std::min(offset + bytes.numel(), first + here.numel());
  if (from < to) here.narrow(0, from - first, to - from).copy_(bytes.narrow(0, from - offset, to - from));
}

}  // namespace executor
