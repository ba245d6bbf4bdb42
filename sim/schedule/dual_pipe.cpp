#include "sim/schedule/dual_pipe.h"

#include <fmt/format.h>

#include <array>
#include <deque>

#include "sim/schedule/shape_rules.h"
#include "sim/units/at.h"

namespace sim {
namespace {

enum class Waits : std::uint8_t { No, Yes };  // the gradients of a backward's weights

// One stage's order, written phase by phase. Each kind of action takes the microbatches of a chunk as they come.
class DualPipeOrder {
 public:
  DualPipeOrder(PipelineShape shape, StageIndex stage) : shape_(shape), stage_(stage.value()) {}

  std::vector<StageAction> write() && {
    fill();
    const std::int32_t steady = shape_.microbatches - 2 * shape_.stages + stage_ + 1;
    for (std::int32_t at = 0; at < steady; ++at) {
      const bool turns = at == 0 && stage_ + 1 == shape_.stages;  // of the V: its first backward waits for this forward's microbatch before
      if (turns) forward(kDown);
      backward(kUp);
      if (!turns) forward(kDown);
      pair(kUp, kDown);
    }
    drain();
    return std::move(order_);
  }

 private:
  static constexpr ChunkIndex kDown{0}, kUp{1};
  std::int32_t behind() const { return shape_.stages - 1 - stage_; }  // stages

  void fill() {
    for (std::int32_t at = 0; at < 2 * behind(); ++at) forward(kDown);
    for (std::int32_t at = 0; at <= stage_; ++at) forward(kDown), forward(kUp);
    for (std::int32_t at = 0; at < behind(); ++at) pair(kUp, kUp);
  }

  // From the middle of the last backwards on the other stages are not kept waiting for weights' gradients.
  void drain() {
    for (std::int32_t at = 0; at < behind(); ++at) backward(kUp), pair(kUp, kDown);
    Waits waits = Waits::No;
    const std::int32_t middle = (stage_ + 1) / 2;
    for (std::int32_t at = 0; at <= stage_; ++at) {
      if (at == middle && stage_ % 2 == 1) waits = Waits::Yes;
      backward(kUp, waits);
      if (at == middle && stage_ % 2 == 0) waits = Waits::Yes;
      backward(kDown, waits);
    }
    for (std::int32_t at = 0; at < behind(); ++at) weights(), backward(kDown, waits);
    while (!waiting_.empty()) weights();
  }

  void forward(ChunkIndex chunk) { add(ActionKind::Forward, chunk); }
  void pair(ChunkIndex forward_of, ChunkIndex backward_of) { backward(backward_of), forward(forward_of); }
  void backward(ChunkIndex chunk, Waits waits = Waits::No) {
    add(ActionKind::Backward, chunk);
    if (waits == Waits::Yes)
      waiting_.push_back(chunk);
    else
      add(ActionKind::Weight, chunk);
  }
  void weights() {
    if (waiting_.empty()) return;
    add(ActionKind::Weight, waiting_.front());
    waiting_.pop_front();
  }
  void add(ActionKind kind, ChunkIndex chunk) {
    MicrobatchIndex& next = sim::at(next_, kind)[chunk.position()];
    order_.push_back({kind, next, chunk});
    next = MicrobatchIndex(next.value() + 1);
  }

  PipelineShape shape_;
  std::int32_t stage_;
  std::array<std::array<MicrobatchIndex, 2>, 3> next_{{{MicrobatchIndex(0), MicrobatchIndex(0)},
                                                       {MicrobatchIndex(0), MicrobatchIndex(0)},
                                                       {MicrobatchIndex(0), MicrobatchIndex(0)}}};  // by kind and chunk
  std::deque<ChunkIndex> waiting_;
  std::vector<StageAction> order_;
};

std::vector<StageAction> dual_pipe_order(PipelineShape shape, StageIndex stage) { return DualPipeOrder(shape, stage).write(); }

std::optional<std::string> why_not_dual_pipe(PipelineShape shape) {
  if (auto why = why_not_a_shape(shape)) return why;
  if (auto why = why_not_whole(shape)) return why;
  if (shape.stages < 2 || shape.chunks != 2)
    return fmt::format("places 2 chunks a stage on at least 2 stages, not {} on {}; use {}", shape.chunks, shape.stages,
                       shape.stages < 2 ? "schedule=1f1b" : "chunks=2");
  if (shape.microbatches >= 2 * shape.stages) return std::nullopt;
  return fmt::format("needs a microbatch for each of the {} chunks, not {}; use fewer stages or schedule=zbv", 2 * shape.stages,
                     shape.microbatches);
}

}  // namespace

const Schedule kDualPipeVSchedule{
    .name = "dualpipev",
    .summary = "two chunks in a V, each forward behind a backward of the other chunk, which it can run beside (expert_overlap)",
    .paper = "DeepSeek-AI, DeepSeek-V3 Technical Report, 2024",
    .why_unsupported = why_not_dual_pipe,
    .order = dual_pipe_order,
    .splits_backward = true,
    .placement = ChunkPlacement::V,
    .pairs = true,
};

}  // namespace sim
