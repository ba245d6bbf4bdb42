#include "executor/training/content_hash.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

namespace executor {
namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87ULL, kPrime2 = 0xC2B2AE3D27D4EB4FULL, kPrime3 = 0x165667B19E3779F9ULL,
                        kPrime4 = 0x85EBCA77C2B2AE63ULL, kPrime5 = 0x27D4EB2F165667C5ULL;

template <class Word>
Word read(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t input) { return std::rotl(lane + input * kPrime2, 31) * kPrime1; }

// The first multiple of 32 bytes, in four lanes.
std::uint64_t stripes(std::span<const std::byte>& bytes) {
  std::array<std::uint64_t, 4> lanes{kPrime1 + kPrime2, kPrime2, 0, 0 - kPrime1};
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size() / 32 * 32;
  for (; at != end; at += 32)
    for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = round(lanes[lane], read<std::uint64_t>(at + 8 * lane));
  bytes = bytes.subspan(bytes.size() / 32 * 32);
  std::uint64_t hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
  for (const std::uint64_t lane : lanes) hash = (hash ^ round(0, lane)) * kPrime1 + kPrime4;
  return hash;
}

}  // namespace

std::uint64_t content_hash(std::span<const std::byte> bytes) {
  const auto length = static_cast<std::uint64_t>(bytes.size());
  std::uint64_t hash = (length >= 32 ? stripes(bytes) : kPrime5) + length;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8))
    hash = std::rotl(hash ^ round(0, read<std::uint64_t>(bytes.data())), 27) * kPrime1 + kPrime4;
  if (bytes.size() >= 4) {
    hash = std::rotl(hash ^ read<std::uint32_t>(bytes.data()) * kPrime1, 23) * kPrime2 + kPrime3;
    bytes = bytes.subspan(4);
  }
  for (const std::byte byte : bytes) hash = std::rotl(hash ^ static_cast<std::uint64_t>(byte) * kPrime5, 11) * kPrime1;
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

}  // namespace executor
