// Muon where tensor ranks have parts of a matrix, each made orthogonal by itself: what a training must come to, from its gradients and without its optimizer.
#pragma once

#include "tests/parity/training_result.h"

namespace parity {

// A plan without warmup, decay of the learning rate, or clipping, stepped twice; how far each matrix of a block is from what its parts say (relative L2,
// the largest), in fp64.
double distance_of_parts(const sim::ParallelPlan& plan, executor::PlantedBug bug = executor::PlantedBug::None);
sim::ParallelPlan muon_of_parts(sim::DeviceMesh mesh);

}  // namespace parity
