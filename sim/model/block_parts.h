// What the segments of blocks share: how an operator is cut, the norm in front, and what follows the sum over tensor ranks.
// Not for other rooms.
#pragma once

#include <optional>

#include "sim/model/segment_builder.h"

namespace sim {

Operator same_width(OperatorKind kind, const char* name, std::int64_t width);   // the same on every tensor rank
Operator split_width(OperatorKind kind, const char* name, std::int64_t width);  // whole heads, or whole features, of a rank
Operator gathered(Operator op);
Operator routes(Operator op);
Operator unscaled(Operator op);
// What of it programs recompute by name; all but attention by torchtitan's `op`.
Operator within(Operator op, Modules modules = {});

// Parts of a block's segments: in front of what tensor ranks cut, and behind it; between them one part, or three.
constexpr std::int32_t kNorm = 0, kCore = 1, kProducts = 2, kThirdCore = 3;

bool has_norm_before(const ModelConfig& config);
bool has_norm_behind(const ModelConfig& config);
bool has_own_norm(const ModelConfig& config);  // of a feed-forward

Meets over_tensor(Meeting meeting, std::int64_t width, bool of_experts_alone = false);
// What stands in front of a segment's first product, if anything does.
std::optional<std::size_t> add_norm(SegmentBuilder& segment, const ModelConfig& config, bool has_norm);
// Behind what tensor ranks sum: nothing of it is read again, but by a norm of the output.
void add_tail(SegmentBuilder& segment, const ModelConfig& config, Operation name, bool of_experts_alone = false, bool ends = false);
// Behind a block's last linear: a norm of its output, dropout, and the sum with what the norm in front had read, or a norm of that. The sum waits for
// the norm that reads it, and its gradients meet in front of that norm: it is priced there.
// ends: a norm of the sum stands behind it, whatever the network has elsewhere.
void add_residual(SegmentBuilder& segment, const ModelConfig& config, std::int32_t tail, std::optional<std::size_t> norm,
                  bool ends = false);

}  // namespace sim
