// XXH64 (Collet, xxHash specification 0.1.1) of a tensor's bytes: names a flipped bit in a checkpoint. Not a defence against forgery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace executor {

std::uint64_t content_hash(std::span<const std::byte> bytes);
std::string hash_text(std::uint64_t hash);  // 16 hex digits

}  // namespace executor
