// Norms of queries and keys, between the joint projection and their positions: of each head by itself (Qwen3, Gemma 3), or of all heads together
// (OLMo 2, which leaves tensor ranks no head of their own); or behind their positions (Hunyuan, nanochat). Recorded by autograd; gradients of the
// scales go straight into their leaves.
#pragma once

#include "executor/model/heads.h"
#include "executor/model/norm.h"

namespace executor {

struct HeadNorms {
  NormLayer queries, keys;
  bool is_joint = false;     // of all heads together
  at::Tensor turn_first{};   // a rotary_table(), by which heads turn in front of their norms; without a tensor: none do
  Documents documents = {};  // as in apply_rotary()
};

// joint [tokens, q | k | v], whose queries and keys are overwritten. Kept: what they were, and a number a norm.
at::Tensor norm_heads(const at::Tensor& joint, const HeadShape& shape, const HeadNorms& norms);

}  // namespace executor
