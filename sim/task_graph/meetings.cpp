#include "sim/task_graph/meetings.h"

#include <algorithm>
#include <array>

#include "sim/plan/scaled_products.h"

namespace sim {
namespace {

using Operations = std::array<std::optional<Operation>, 2>;  // by direction
struct TensorRow {
  Meeting meeting;
  Operations whole, sequence;  // each rank has the whole stream; or a part of its tokens (Korthikanti et al. 2022)
};
constexpr std::optional<Operation> kNone = std::nullopt;
constexpr TensorRow kTensor[] = {
    {Meeting::Enter, {kNone, Operation::AllReduce}, {Operation::AllGather, Operation::ReduceScatter}},
    {Meeting::Leave, {Operation::AllReduce, kNone}, {Operation::ReduceScatter, Operation::AllGather}},
    {Meeting::Statistic, {Operation::AllReduce, kNone}, {Operation::AllReduce, kNone}},
    {Meeting::Share, {Operation::AllGather, Operation::ReduceScatter}, {Operation::AllGather, Operation::ReduceScatter}},
    {Meeting::Norms, {Operation::AllReduce, Operation::AllReduce}, {Operation::AllReduce, Operation::AllReduce}},
};
struct ContextRow {
  ContextAlgorithm algorithm;
  Operations enter, leave;
};
constexpr ContextRow kContext[] = {
    {ContextAlgorithm::AllGather, {Operation::AllGather, Operation::ReduceScatter}, {kNone, Operation::AllGather}},
    {ContextAlgorithm::AllToAll, {Operation::AllToAll, Operation::AllToAll}, {Operation::AllToAll, Operation::AllToAll}},
    {ContextAlgorithm::Ring, {kNone, kNone}, {kNone, kNone}},
    {ContextAlgorithm::Hierarchical, {Operation::AllToAll, Operation::AllToAll}, {Operation::AllToAll, Operation::AllToAll}},
};

Bytes of_width(const ParallelPlan& plan, std::int64_t width, Bytes activation) {
  return activation * (of_tokens(Tokens::All, plan.model, plan.shard_shape()).tokens() * width);
}

Bytes tensor_payload(const Meets& meets, const ParallelPlan& plan, Bytes activation) {
  const ShardShape shape = of_tokens(meets.tokens, plan.model, plan.shard_shape());
  const bool is_of_sums = meets.meeting == Meeting::Statistic || meets.meeting == Meeting::Norms;
  return (is_of_sums ? std::max(activation, Bytes(4)) : activation) * (shape.tokens() * meets.width);
}

Bytes block_of(const Meets& meets, const ParallelPlan& plan, Bytes activation) {
  return of_width(plan, meets.block / meets.heads.key_parts(plan.mesh.tensor), activation);
}

Bytes context_payload(const Meets& meets, const ParallelPlan& plan, Bytes activation) {
  const Bytes block = block_of(meets, plan, activation);
  if (plan.context_algorithm == ContextAlgorithm::AllGather) return block * std::int64_t{plan.mesh.context};
  const Bytes single = of_width(plan, meets.width / plan.mesh.tensor, activation);
  return meets.meeting == Meeting::Enter ? single + block : single;
}

// Of heads each rank's part, in place of its part of the tokens; a group that several ranks have heads of is sent to each of them.
Bytes scan_payload(const Meets& meets, const ParallelPlan& plan, Bytes activation) {
  const std::int64_t tensor = plan.mesh.tensor, groups = std::max<std::int64_t>(1, meets.heads.keys);
  const std::int64_t copies = std::max<std::int64_t>(groups / tensor, plan.mesh.context);
  return of_width(plan, meets.width / tensor + meets.block / groups * copies, activation);
}

// SyncBatchNorm: forward a row of means, squared deviations and a count from each rank; backward the sums of two numbers a channel.
std::vector<Piece> statistics(const Meets& meets, const ParallelPlan& plan, Direction direction) {
  if (!plan.shares_statistics()) return {};
  const Bytes number = std::max(plan.bytes(Numbers::Activations), Bytes(4));
  if (direction == Direction::Backward)
    return {{.operation = Operation::AllReduce, .payload = number * (2 * meets.width), .group = MeshAxis::Data}};
  return {{.operation = Operation::AllGather, .payload = number * ((2 * meets.width + 1) * plan.mesh.data), .group = MeshAxis::Data}};
}

// The rows of a rank's own tokens, which do not depend on where they go; with dropping the most that it can be. Tensor ranks exchange the same rows:
// all of them compute with each; where experts are cut by a degree of their own, each its part of the tokens.
Bytes expert_payload(const Meets& meets, const ParallelPlan& plan, Bytes activation) {
  const RoutedTokens tokens{tokens_to_route(plan)};
  return activation * (rows_to_experts(*plan.model.experts, tokens) * meets.width);
}

// All tokens of all ranks, one row each however many experts want it, and towards the experts what the router said of them: a weight an expert, and forward which
// are chosen (a byte; Megatron-Core, MoEAllGatherTokenDispatcher).
Bytes gathered_payload(const Meets& meets, const ParallelPlan& plan, Direction direction, Bytes activation) {
  const bool is_routed = meets.meeting == Meeting::Enter, tells_choice = is_routed && direction == Direction::Forward;
  const std::int64_t experts = plan.model.experts->experts;
  const Bytes each = activation * (meets.width + (is_routed ? experts : 0)) + Bytes(tells_choice ? experts : 0);
  return each * (tokens_to_route(plan) * plan.mesh.expert);
}

std::optional<Operation> operation_of(const Meets& meets, const ParallelPlan& plan, Direction direction) {
  const auto at = static_cast<std::size_t>(direction);
  switch (meets.axis) {
    case SplitAxis::Tensor:
      if (meets.of_experts_alone && plan.mesh.cuts_experts_apart()) return std::nullopt;
      if (meets.meeting == Meeting::Share && meets.heads.keys >= plan.mesh.tensor) return std::nullopt;
      for (const TensorRow& row : kTensor)
        if (row.meeting == meets.meeting && plan.mesh.tensor > 1) return (plan.sequence_parallel ? row.sequence : row.whole)[at];
      return std::nullopt;
    case SplitAxis::Context:
      for (const ContextRow& row : kContext)
        if (row.algorithm == plan.context_algorithm && plan.mesh.context > 1)
          return (meets.meeting == Meeting::Enter ? row.enter : row.leave)[at];
      return std::nullopt;
    case SplitAxis::Scan: return plan.mesh.context > 1 ? std::optional(Operation::AllToAll) : std::nullopt;  // whatever attention does
    case SplitAxis::Expert:
    case SplitAxis::Data: break;  // expert_exchanges, statistics
  }
  return std::nullopt;
}

// Rows go to the rank of their expert, and to all that share it (Megatron-Core's token dispatcher: all-gather behind the all-to-all); what these
// make of them is summed on the way back. The other way round in backward.
//
//   to the products     all_to_all (expert) > all_gather (expert_tensor)
//   from them           reduce_scatter (expert_tensor) > all_to_all (expert)
//   gathers_tokens      all_gather and reduce_scatter for the all-to-alls: a rank takes its experts' rows of all tokens
std::vector<Piece> expert_exchanges(const Meets& meets, const ParallelPlan& plan, Direction direction, Bytes activation) {
  const DeviceMesh& mesh = plan.mesh;
  const bool gathers = plan.gathers_tokens();
  const Bytes rows = gathers ? gathered_payload(meets, plan, direction, activation) : expert_payload(meets, plan, activation);
  const bool arrives = (meets.meeting == Meeting::Enter) == (direction == Direction::Forward);
  const Operation to_all = arrives ? Operation::AllGather : Operation::ReduceScatter;
  std::vector<Piece> pieces;
  if (mesh.expert > 1) pieces.push_back({.operation = gathers ? to_all : Operation::AllToAll, .payload = rows, .group = MeshAxis::Expert});
  if (!mesh.cuts_experts_apart() || mesh.expert_cut() == 1) return pieces;
  const Piece shared{.operation = to_all, .payload = rows * std::int64_t{mesh.expert_cut()}, .group = MeshAxis::ExpertTensor};
  pieces.insert(arrives ? pieces.end() : pieces.begin(), shared);
  return pieces;
}

}  // namespace

std::int64_t tokens_to_route(const ParallelPlan& plan) {
  return plan.shard_shape().tokens() / (plan.mesh.cuts_experts_apart() ? plan.mesh.tensor : 1);
}

bool is_cut(const Meets& meets, const ParallelPlan& plan, Direction direction) {
  if (meets.axis == SplitAxis::Expert) return true;
  if (meets.axis == SplitAxis::Data) return plan.shares_statistics();
  if (meets.axis == SplitAxis::Context) return plan.mesh.context > 1 || plan.slices > 1;  // keys and values of slices wait between
  return operation_of(meets, plan, direction).has_value();
}

std::vector<Piece> exchanges(const Meets& meets, const ParallelPlan& plan, Direction direction, Bytes activation) {
  if (meets.axis == SplitAxis::Expert) return expert_exchanges(meets, plan, direction, activation);
  if (meets.axis == SplitAxis::Data) return statistics(meets, plan, direction);
  const std::optional<Operation> operation = operation_of(meets, plan, direction);
  if (!operation) return {};
  if (meets.axis == SplitAxis::Tensor)
    return {{.operation = *operation, .payload = tensor_payload(meets, plan, activation), .group = MeshAxis::Tensor}};
  if (meets.axis == SplitAxis::Scan)
    return {{.operation = *operation, .payload = scan_payload(meets, plan, activation), .group = MeshAxis::Context}};
  const bool is_inner = plan.context_algorithm == ContextAlgorithm::Hierarchical;
  return {{.operation = *operation,
           .payload = context_payload(meets, plan, activation),
           .group = is_inner ? MeshAxis::ContextInner : MeshAxis::Context}};
}

std::vector<Piece> asked_within(const Operator& product, const ParallelPlan& plan, Direction direction, Bytes activation) {
  const bool is_forward = direction == Direction::Forward;
  std::vector<Piece> pieces;
  const auto ask = [&](MeshAxis axis, Bytes payload) {
    pieces.push_back({.operation = Operation::AllReduce, .payload = payload, .group = axis, .within = true});
  };
  if (!is_forward && sums_before_rounding(plan, product)) ask(MeshAxis::Tensor, of_width(plan, product.outputs, activation));
  for (const AskedMaxima& asked : asked_maxima(plan, product, is_forward ? ProductPass::Forward : ProductPass::Backward))
    ask(asked.of, std::max(plan.bytes(Numbers::Activations), Bytes(4)) * asked.numbers);
  return pieces;
}

bool runs_in_rounds(const Meets& entered, const ParallelPlan& plan) {
  return entered.axis == SplitAxis::Context && plan.block_ranks() > 1 && plan.context_algorithm != ContextAlgorithm::AllGather;
}

std::vector<Piece> rounds(const Piece& part, const Meets& entered, const ParallelPlan& plan, Direction direction, Bytes activation) {
  std::vector<Piece> pieces;
  const Bytes block = block_of(entered, plan, activation);
  const bool backward = direction == Direction::Backward;
  const MeshAxis group = plan.context_algorithm == ContextAlgorithm::Hierarchical ? MeshAxis::ContextOuter : MeshAxis::Context;
  const auto hop = [&](Bytes payload, bool beside_next) {
    if (payload.value() > 0)
      pieces.push_back({.operation = Operation::RingHop, .payload = payload, .group = group, .beside_next = beside_next});
  };
  for (std::int32_t step = 0; step < plan.block_ranks(); ++step) {
    const Bytes onward = step + 1 < plan.block_ranks() ? block : Bytes{}, gradients = backward && step > 0 ? block : Bytes{};
    hop(onward + gradients, true);
    pieces.push_back(part);
  }
  if (backward) hop(block, false);
  return pieces;
}

}  // namespace sim
