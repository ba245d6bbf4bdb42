// What a head sees and how it is made: all positions, a window of them (Beltagy et al. 2020), or keys and values from a latent vector (DeepSeek-V2, 2024).
// A field of ModelConfig and of sim/estimate's Network.
#pragma once

#include <cstdint>

namespace sim {

enum class AttentionKind : std::uint8_t { Full, Latent, Sliding };

struct AttentionForm {
  AttentionKind kind = AttentionKind::Full;
  std::int64_t window = 0, every = 1;                                         // sliding
  std::int64_t q_lora = 0, kv_lora = 0, qk_nope = 0, qk_rope = 0, v_dim = 0;  // latent
  std::int64_t key_width() const { return qk_nope + qk_rope; }                // latent: of a head's queries and keys
  bool operator==(const AttentionForm&) const = default;
};

}  // namespace sim
