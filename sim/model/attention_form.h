// What a head sees and how it is made: all positions, a window of them (Beltagy et al. 2020), or keys and values from a latent vector (DeepSeek-V2, 2024),
// of all tokens or of those that an indexer chooses.
// A field of ModelConfig and of sim/estimate's Network.
#pragma once

#include <cstdint>

#include "sim/model/sparse_form.h"

namespace sim {

enum class AttentionKind : std::uint8_t { Full, Latent, Sliding };

struct AttentionForm {
  AttentionKind kind = AttentionKind::Full;
  std::int64_t window = 0, every = 1;                                         // sliding
  std::int64_t q_lora = 0, kv_lora = 0, qk_nope = 0, qk_rope = 0, v_dim = 0;  // latent
  Indexer indexer{};                                                          // latent
  bool is_sparse() const { return indexer.topk > 0; }
  std::int64_t shared_key() const { return kv_lora + qk_rope; }  // sparse: what all heads' queries meet
  std::int64_t key_width() const { return qk_nope + qk_rope; }   // latent: of a head's queries and keys
  bool operator==(const AttentionForm&) const = default;
};

}  // namespace sim
