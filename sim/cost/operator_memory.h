// What a segment's backward has alive operator by operator, where autograd runs a program's modules as they are written (not compiled, not cut by
// context ranks; tensor ranks cut the sequence, too): each operator frees what it kept when its gradients are there, and a weight's gradient comes with its product. The same of
// the head's forward, whose logits are cast to fp32 for the loss.
//
// Seen storage by storage in torch 2.11 (tests/oracles) for a llama's block and head; a step is one operator.
//
// Tensor ranks meet behind the norm, behind the core and twice within the loss: what is between is a task of its own, and the gradient that the core
// reads was gathered for it.
#pragma once

#include <cstdint>

#include "sim/cost/memory_steps.h"
#include "sim/plan/parallel_plan.h"

namespace sim {

// A layer's gradients come all at once when its backward begins, or each with its product.
enum class GradientsCome : std::uint8_t { AtOnce, ByOperator };

// Whether a plan's program runs the layer's segments so, and all of them are of the kinds below.
GradientsCome gradients_come(const ModelGraph& model, const ParallelPlan& plan, const Layer& layer);

// Of a segment: all of it; in backward its norm, or its core; in the head's forward its product, the sums of the loss, or the loss.
enum class SegmentRun : std::uint8_t { Whole, Norm, Core, Product, Sums, Loss };

// inside: of the module. The loss is not: behind the head's module in forward, in front of it in backward.
struct OperatorSteps {
  MemorySteps loss, inside;
};
OperatorSteps backward_by_operator(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment, SegmentRun part);
// In forward, when keys are turned: queries, keys and values as their products made them, both turned, and what fp32 takes meanwhile.
Bytes rotary_by_operator(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment);
// Logits as the head's product makes them, where they are not overwritten but cast to fp32 for the loss, and gone before backward.
Bytes logits_before_loss(const ModelGraph& model, const ParallelPlan& plan);
OperatorSteps head_forward_by_operator(const ModelGraph& model, const ParallelPlan& plan, SegmentRun part);

}  // namespace sim
