// The memory of one Bucket of sim/sharding on one data rank: weights, gradients and optimizer state as flat buffers, whole or this rank's
// shard, as the strategy says. Who communicates and steps is not decided here.
//
//                 weights        gradients                        reduced gradients          optimizer state
//   ddp           whole          whole                            in place                   whole
//   zero1         whole          whole                            in the own shard of them   shard
//   zero2         whole          whole while a backward fills it  shard                      shard
//   zero3         shard (+ whole while gathered)   as zero2       shard                      shard
//   moments in 8 bit: a byte a number, and a scale in fp32 a block; slots and shards begin with a block.
//   16-bit weights have an fp32 master, which is optimizer state: it is stepped, and the weights are its rounding.
//   offloaded: the optimizer state, masters of any precision and a copy of the gradients that it steps lie on the host.
//   weights on the host: as zero3, and the device has nothing between its tasks. The shard lies where it is stepped, and comes into its place in the
//     whole; gradients of each microbatch leave, and what the host has of those before comes up to be added to. One rank alone has whole ones there.
//   stepped in the backward: gradients have memory from the backward that fills them, reduced ones from their reduction, both until the step.
//   frozen: weights alone, in their own type; or packed, as bytes (sim::Bucket::packed).
//   whole tensors: shards of zero1 and zero2 are those that a rank owns, side by side; some ranks own none of a bucket.
//   one data rank: as ddp. Accumulation reduce_each adds a buffer like the reduced gradients, in which microbatches are summed.
//
// Views of the buffers (leaves) stay valid while memory is released and taken again: only the storage behind them changes size.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/model/leaf.h"
#include "sim/sharding/sharding.h"

namespace executor {

struct BucketPlan {
  bool shards_weights = false, shards_gradients = false, shards_optimizer = false;  // already false where there is one data rank
  bool sums_microbatches = false;  // reduce_each: reduced gradients of microbatches are summed apart
  bool offloads_optimizer = false, weights_on_host = false;
  bool gives_up_gradients = false;                                                                // once they are stepped
  std::int64_t data_rank = 0;                                                                     // among the shards
  at::TensorOptions options;                                                                      // precision of the weights, device
  at::ScalarType gradient_type = at::kFloat, master_type = at::kFloat, moment_type = at::kFloat;  // moments as bytes: in 8 bit
  std::int64_t moments = 2;                                                                       // tensors of optimizer state
  bool matrices_keep_one = false;  // Muon: of a block's matrix the first alone, and the second lies without gaps
};
// Elements [begin, begin + count) of the bucket.
struct BucketRange {
  std::int64_t begin = 0, count = 0;
  std::int64_t end() const { return begin + count; }
};

class FlatBucket {
 public:
  FlatBucket(sim::Bucket bucket, const BucketPlan& plan);

  const sim::Bucket& layout() const { return layout_; }
  bool is_dealt() const { return !layout_.first_of.empty(); }  // whole tensors to owners, each of whom has as many elements as
  std::vector<std::int64_t> owned_elements() const;
  BucketRange own_shard() const;                                 // what this data rank owns: counted in the norm, saved in checkpoints
  BucketRange stepped() const;                                   // what its optimizer updates: the shard, or the whole bucket (ddp)
  BucketRange resident() const;                                  // whose weights are always there: the shard (zero3), or the whole bucket
  bool is_packed() const { return layout_.packed.value() > 0; }  // then weights are bytes, and have no ranges of elements

  // Whole weights. Sharded weights have memory between take_weights() and release_weights().
  const at::Tensor& weights() const { return weights_; }
  at::Tensor weight_shard() const;  // own_shard(), always there
  void take_weights();
  void release_weights();
  void bring_weights();               // from the host, into the own place in the whole
  at::Tensor gathered_shard() const;  // what this rank gives to a gather
  struct Part {
    std::int64_t rank = 0, ranks = 1;
  };
  void keep_weights(Part part);  // a copy of one of so many equal parts of them, from forward to backward, or to the step
  at::Tensor take_kept();        // it is given up
  const at::Tensor& kept() const { return kept_; }
  bool has_whole_weights() const { return weights_.storage().nbytes() > 0; }
  void put_packed(const sim::BucketSlot& slot, const at::Tensor& bytes);  // of all of a slot: what of it is always here

  const at::Tensor& gradients() const;  // whole; backward adds to it. What nothing has come to is zeroed now
  void start_gradients();  // begins each slot's (gradient_place.h), taking memory if they have none; call before each backward that adds
  at::Tensor reduction_target() const;  // where a reduce-scatter puts the own shard
  void finish_reduction();              // the reduced gradients are there: frees the whole ones (zero2, zero3)
  void give_up_gradients();             // they are stepped: frees all of them, until the next backward
  void accumulate();                    // reduce_each: adds the reduced gradients to the sum; the next microbatch starts afresh
  void begin_step();
  at::Tensor final_gradients(BucketRange range) const;  // reduced and summed; range inside stepped() or own_shard()
  at::Tensor stepped_gradients() const;                 // what the optimizer reads: the final ones of stepped(), or their copy on the host
  void copy_gradients_to_host();                        // on the current stream, like
  void bring_gradients();                               // those that the host has of the microbatches before
  void copy_weights_to_device();                        // those that the host has stepped

  at::Tensor weights_of(BucketRange range) const;  // inside resident()
  bool has_master() const { return master_.defined(); }
  at::Tensor master(BucketRange range) const;  // inside stepped(); without a master of its own the weights
  void round_master();                         // into the weights of stepped()
  at::Tensor rounded_weights() const;          // where a step of 16-bit weights is rounded to; none where the master is what is used
  void stage_weights();                        // of the master, on the host: what goes up if no step comes between
  at::Tensor moment(std::int64_t index, BucketRange range) const;         // inside a slot that has it, or, where all have, inside stepped()
  at::Tensor moment_scales(std::int64_t index, BucketRange range) const;  // in 8 bit: of the blocks of the range. Else no tensor
  bool has_moment(std::int64_t index, const sim::BucketSlot& slot) const {
    return index < num_moments() && (index == 0 || !plan_.matrices_keep_one || !slot.is_matrix_of_block);
  }
  std::int64_t num_moments() const { return static_cast<std::int64_t>(moments_.size()); }
  Leaf leaf(const sim::BucketSlot& slot, at::IntArrayRef shape);

  struct Bytes {
    sim::Bytes weights{}, gradients{}, optimizer{};  // masters are optimizer state
    sim::Bytes host{};                               // an offloaded optimizer
  };
  Bytes bytes() const;  // held now

 private:
  void make_state();
  void clear_gaps();
  at::Tensor within(const at::Tensor& buffer, BucketRange range) const;
  std::int64_t left_out(std::int64_t end) const;  // elements of stepped() in front of `end` that have no second moment
  std::int64_t stored() const { return is_packed() ? layout_.packed.value() : layout_.elements; }  // numbers in weights_
  void keep_on_host();
  BucketRange stored_shard() const;  // those of own_shard()

  sim::Bucket layout_;
  BucketPlan plan_;
  at::Tensor weights_,
      weight_shard_;  // weight_shard_: own memory when weights are sharded; on the host that of masters, or of what they round to
  at::Tensor kept_;   // since a forward, to its backward or to the step; mostly undefined
  at::Tensor gradients_, reduced_, summed_;          // reduced_: own memory when gradients are sharded
  at::Tensor master_;                                // of stepped(), beside 16-bit weights
  std::vector<at::Tensor> moments_, moment_scales_;  // moment_scales_: of moments in 8 bit
  at::Tensor host_gradients_, host_weights_;         // offloaded: of stepped(); host_weights_: 16 bits, beside their masters
  std::vector<at::Tensor> places_,
      gaps_;  // of gradients_: each slot's, and what lies between slots and is always zero; gaps_: since the first start
  bool filling_ = false, has_started_ = false;
};

}  // namespace executor
