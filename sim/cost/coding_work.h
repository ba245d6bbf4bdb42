// What encoding and decoding around an exchange reads and writes: kernels of bytes.
//
//   blocks     Encode: numbers in, codes out.  Reencode: codes of all in, their sums' codes out.  Decode: codes in, numbers out.
//   low rank   Encode: the error takes the gradient (two reads, a write), is read for P.  Reencode: it is read for Q.
//              Decode: P Q^T is written, and taken off the error (two reads, a write).  Their flops hide behind the bytes: few columns.
#pragma once

#include "sim/sharding/encoded.h"
#include "sim/task_graph/task.h"

namespace sim {

Bytes coding_bytes(const TaskKey& key, const Bucket& bucket, const ParallelPlan& plan);  // of Encode, Reencode, Decode

}  // namespace sim
