// What a bucket's reduction and a unit's gather consist of under the plan's codecs (sim/plan/wire_codec.h): which tasks, over which ranks, with how many
// bytes. The same steps serve lower() (tasks), cost (bytes that are read and written) and the executor (buffers).
//
//   cast           ReduceScatter, or AllReduce
//   blocks         Encode  AllToAll  Decode;  int4 with neighbours: Encode  AllToAll(near)  Reencode  AllToAll(distant)  Decode
//   low rank       Encode  AllReduce(others, P)  Reencode  AllReduce(Q)  Decode
//   gathers        Encode  AllGather  Decode
#pragma once

#include <cstdint>
#include <vector>

#include "sim/model/operation.h"
#include "sim/sharding/sharding.h"

namespace sim {

struct WireStep {
  Operation operation{};
  MeshAxis group = MeshAxis::None;
  std::int32_t round = 0;  // of equal operations: the second one's sequence number is as many buckets further
  Bytes payload{};         // of an exchange: the whole buffer; else what is made
};

// How the bucket's gradients cross links between the ranks that share it. None: as they are, or cast; so is one of whose matrices none is worth P and Q.
WireCodec gradient_codec(const Bucket& bucket, const ParallelPlan& plan);
// Of a bucket that several ranks share; its replicas' sum comes after it.
std::vector<WireStep> reduction_steps(const Bucket& bucket, const ParallelPlan& plan);
// Stage 3: of shards of all. What neighbours have kept among them they have decoded, and gather as it is.
std::vector<WireStep> gather_steps(const Bucket& bucket, const ParallelPlan& plan);
Bytes gather_payload(const Bucket& bucket, const ParallelPlan& plan);

// One matrix of a bucket between P [rows, rank] and Q [columns, rank].
struct LowRankMatrix {
  std::size_t slot = 0;
  MatrixSize shape;
  std::int64_t rank = 0;
  std::int64_t begin = 0, p = 0, q = 0;  // elements: where its numbers, its P and its Q begin among those of all
};
struct LowRankBucket {
  std::vector<LowRankMatrix> matrices;
  std::int64_t others = 0;                    // elements of slots that travel as they are, in front of the P's
  std::int64_t compressed = 0, p = 0, q = 0;  // elements
};
LowRankBucket low_rank_bucket(const Bucket& bucket, WireCodec codec);
// Kept between steps, beside the gradients: what was not sent of the matrices, and the Q's.
Bytes codec_state(const Bucket& bucket, const ParallelPlan& plan);

}  // namespace sim
