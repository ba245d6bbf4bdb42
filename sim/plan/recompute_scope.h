// What of `recompute` holds where: one value with one text, which plan file, command line and tables share.
//
//   ""                             all blocks, in all microbatches; with selective: the scores of an unfused attention
//   "modules moe_act,layernorm"    with selective: these parts of every block (Megatron-Core's --recompute-modules; "op": torchtitan's choice)
//   "first 4"                      with full: the first four blocks of each pipeline part (Megatron-LM's --recompute-method block)
//   "first 4,3,2,0"                with full: a number for each stage, of the first blocks of its parts (ColossalAI's num_ckpt_layers_per_stage)
//   "every 2"                      with full: every second block of a part (torchtitan's selective with a number)
//   "together 4"                   with full: four blocks of a part in a row keep the input of the first alone, and are all made again before the last one's
//                                  backward (Megatron-LM's --recompute-method uniform --recompute-num-layers 4; GPT-NeoX's checkpoint_num_layers)
//   "but_last"                     with full: not in the last microbatch, whose backward follows at once (torchgpipe's except_last)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model/segment.h"
#include "sim/units/index.h"
#include "sim/units/input_error.h"

namespace sim {

struct RecomputeScope {
  Modules modules{};
  std::int32_t first = 0;                // 0: all
  std::vector<std::int32_t> by_stage{};  // in place of it; 0: none of that stage's
  std::int32_t every = 1, together = 1;
  bool but_last = false;
  bool operator==(const RecomputeScope&) const = default;
  bool holds_for_block(std::int32_t position, StageIndex stage) const {  // in its part, from 0
    const std::int32_t most = stage.position() < by_stage.size() ? by_stage[stage.position()] : first;
    return ((most == 0 && by_stage.empty()) || position < most) && (position + 1) % every == 0;
  }
};

std::string to_text(const RecomputeScope& scope);
std::string to_text(Modules modules);  // "moe_act,layernorm"
Modules parse_modules(std::string_view text, Modules among, std::vector<Violation>& violations);
// What is wrong is told in `violations`, by word.
RecomputeScope parse_recompute_scope(std::string_view text, std::vector<Violation>& violations);

}  // namespace sim
