#include "sim/units/token_layout.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sim/units/input_error.h"

namespace sim {
namespace {

template <class Value>
std::string bytes_of(const std::vector<Value>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value)};
}

class TokenLayoutOf : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ + name, std::ios::binary) << content;
    return folder_ + name;
  }
  static std::string refusal(const std::string& path, TokenType stated = TokenType::Unstated) {
    try {
      token_layout(path, stated);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }
  // As Megatron writes it: magic, version, type, counts, lengths of documents.
  static std::string index(std::uint8_t type, const std::vector<std::int32_t>& lengths) {
    return std::string("MMIDIDX\0\0", 9) + bytes_of<std::uint64_t>({1}) + static_cast<char>(type) +
           bytes_of<std::uint64_t>({lengths.size(), lengths.size() + 1}) + bytes_of(lengths);
  }
  std::string folder_ = ::testing::TempDir() + "token_layout/";
};

std::vector<std::uint16_t> short_tokens() {
  std::vector<std::uint16_t> tokens;
  for (std::uint16_t i = 0; i < 100; ++i) tokens.push_back(i);
  return tokens;
}
std::vector<std::uint32_t> wide_tokens() {
  const std::vector<std::uint16_t> tokens = short_tokens();
  return {tokens.begin(), tokens.end()};
}

TEST_F(TokenLayoutOf, PlainFilesAreUint16UnlessStated) {
  const TokenLayout layout = token_layout(file("a.bin", bytes_of(short_tokens())), TokenType::Unstated);
  EXPECT_EQ(layout.tokens, 100);
  EXPECT_EQ(layout.width, Bytes(2));
  EXPECT_EQ(token_layout(file("b.bin", bytes_of(wide_tokens())), TokenType::Uint32).tokens, 100);
  EXPECT_THAT(refusal(file("c.bin", "abc")), ::testing::HasSubstr("3 bytes"));
  EXPECT_THAT(refusal(file("d.bin", bytes_of(short_tokens()) + "ab"), TokenType::Uint32), ::testing::HasSubstr("4-byte tokens"));
}

TEST_F(TokenLayoutOf, LongTokensAreNotReadAsShortOnes) {
  const std::string path = file("a.bin", bytes_of(wide_tokens()));
  EXPECT_THAT(refusal(path), ::testing::HasSubstr("--token-type uint32"));
  EXPECT_EQ(token_layout(path, TokenType::Uint16).tokens, 200) << "it may be meant";
  EXPECT_EQ(refusal(file("b.bin", std::string(400, '\0'))), "") << "nothing but zeros says nothing";
}

TEST_F(TokenLayoutOf, IntegersOf64BitsAreNoTokensOf32) {
  const std::vector<std::uint16_t> tokens = short_tokens();
  const std::string path = file("a.bin", bytes_of(std::vector<std::uint64_t>(tokens.begin(), tokens.end())));
  for (const TokenType stated : {TokenType::Unstated, TokenType::Uint32}) {
    EXPECT_THAT(refusal(path, stated), ::testing::HasSubstr("looks like 64-bit integers"));
    EXPECT_THAT(refusal(path, stated), ::testing::Not(::testing::HasSubstr("--token-type"))) << "which would not help";
  }
}

TEST_F(TokenLayoutOf, OurHeaderSaysTheType) {
  const std::string path = file("a.bin", token_header(Bytes(4)) + bytes_of(wide_tokens()));
  const TokenLayout layout = token_layout(path, TokenType::Unstated);
  EXPECT_EQ(layout.tokens, 100);
  EXPECT_EQ(layout.width, Bytes(4));
  EXPECT_EQ(layout.begin, Bytes(16));
  EXPECT_THAT(refusal(path, TokenType::Uint16), ::testing::HasSubstr("holds tokens of 32 bits"));
  EXPECT_THAT(refusal(file("b.bin", token_header(Bytes(4)) + "abc")), ::testing::HasSubstr("cut"));
}

TEST_F(TokenLayoutOf, MegatronsIndexSaysTheType) {
  const std::string path = file("a.bin", bytes_of(wide_tokens()));
  file("a.idx", index(4, {60, 40}));
  EXPECT_EQ(token_layout(path, TokenType::Unstated).tokens, 100);
  EXPECT_EQ(token_layout(path, TokenType::Unstated).width, Bytes(4));
  file("a.idx", index(8, {150, 50}));
  EXPECT_EQ(token_layout(path, TokenType::Unstated).tokens, 200);
  file("a.idx", index(4, {60, 41}));
  EXPECT_THAT(refusal(path), ::testing::HasSubstr("says 101 tokens of 4"));
  file("a.idx", index(7, {100}));
  EXPECT_THAT(refusal(path), ::testing::HasSubstr("says type 7"));
  file("a.idx", "something");
  EXPECT_THAT(refusal(path), ::testing::HasSubstr("is no index of a Megatron data set"));
}

TEST_F(TokenLayoutOf, OtherFormatsAreRefusedByName) {
  EXPECT_THAT(refusal(file("a.npy", "\x93NUMPY...")), ::testing::HasSubstr("a NumPy array"));
  EXPECT_THAT(refusal(file("a.bin", "PAR1....")), ::testing::HasSubstr("a Parquet table"));
  EXPECT_THAT(refusal(file("a.jsonl", "{\"text\": \"x\"}\n")), ::testing::HasSubstr("JSON text"));
  EXPECT_THAT(refusal(folder_ + "none.bin"), ::testing::HasSubstr("cannot be read"));
  EXPECT_THAT(refusal(folder_), ::testing::HasSubstr("is a folder"));
}

TEST_F(TokenLayoutOf, ADeviceIsNoFile) { EXPECT_THAT(refusal("/dev/null"), ::testing::HasSubstr("is a device or a pipe")); }

}  // namespace
}  // namespace sim
