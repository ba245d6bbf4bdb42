// Every plan worth judging for a request, and the families that no constraint lets in.
// Enumerates shapes only: stage cuts come from partition, memory and time from evaluator.
//
// Exhaustive over the meshes (mesh_space.h), their shapes (shape_space.h: context algorithm, microbatch of all divisors of global_batch / D, every schedule with its
// chunks), and the words of a shape: sharding (sharding_space.h), sequence parallelism, how tokens reach experts (expert_space.h), recomputation, by parts of
// blocks, too (recomputation.h), and what lies on the host (host_space.h). What the program that the request is for has no words for is left out (sayable.h). So
// are plans that equal another one or hold more memory for the same work:
//   P == 1 or one microbatch   one schedule of a single chunk: without a second stage or microbatch there is no order to choose
//                              (gpipe on one stage only holds more activations)
//   C == 1                     one context algorithm: there is nobody to exchange keys with
//   T == 1                     no sequence parallelism: there is no group to split the sequence over
//   D x C == 1                 ZeRO stage 0: there is nobody to share with
//   D x C == 1, one microbatch accumulation=reduce_each: nothing is reduced, or once
//   a split backward           accumulation=reduce_each: weight gradients of a microbatch come after those of the next
//   stage < 3                  resharding, wrapping: only stage 3 gathers
//   stage 3, reshards          after forward all shards, or those of a node: of another number the time lies between
//   replicas                   ZeRO stage 0: nothing is sharded that they could hold twice; the sum's algorithm is priced anyway
//   units of 1e8 parameters or more (of a tensor rank)   twice as many layers a unit: the least that FairScale's and FSDP's size-based wrapping makes a
//                              unit, beyond it the time of a gather is that of its bytes; below, units of 1, 2, 4, ... blocks of a chunk
//   no attention dropout       recompute=selective without parts: a fused kernel keeps no scores to compute again (one that writes them out does)
//   request.offload is false   anything on the host: it pays where nothing else fits, and search() asks again then
//   weights on the host        other than as the rules have them; on one device stage 3 without them, which equals stage 0
//   CUDA graphs                others than are asked for, or than the plan has that is asked about: their memory is not priced
//   the optimizer stays        inputs of blocks on the host: the optimizer moves fewer bytes for more room
// An axis that is fixed is taken at its word.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "planner/candidates.h"

namespace planner {

struct SearchSpace {
  Candidates candidates;  // in a fixed order: the index breaks every tie
  std::vector<Exclusion> excluded;
};

// Throws sim::InputError: see read_fixed_axes. `cancel` ends it soon, with the first meshes.
SearchSpace enumerate(const SearchRequest& request, const std::atomic<bool>* cancel = nullptr);

}  // namespace planner
