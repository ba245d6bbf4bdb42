#include "executor/training/content_hash.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace executor {
namespace {

std::string hash_of(std::string_view text) { return hash_text(content_hash(std::as_bytes(std::span(text.data(), text.size())))); }

// Vectors of the xxHash specification and of its command line program.
TEST(ContentHash, KnownVectors) {
  EXPECT_EQ(hash_of(""), "ef46db3751d8e999");
  EXPECT_EQ(hash_of("a"), "d24ec4f1a98c6e5b");
  EXPECT_EQ(hash_of("abc"), "44bc2cf5ad770999");
  EXPECT_EQ(hash_of("Nobody inspects the spammish repetition"), "fbcea83c8a378bf1");
}

TEST(ContentHash, EveryBitCounts) {
  std::vector<std::byte> bytes(77, std::byte{3});
  const std::uint64_t before = content_hash(bytes);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
    EXPECT_NE(content_hash(bytes), before) << bit;
    bytes[bit / 8] ^= std::byte{1} << static_cast<int>(bit % 8);
  }
}

}  // namespace
}  // namespace executor
