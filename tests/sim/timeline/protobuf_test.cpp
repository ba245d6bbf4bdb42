#include "sim/timeline/protobuf.h"

#include <gtest/gtest.h>

#include "tests/sim/timeline/protobuf_fields.h"

namespace sim {
namespace {

using testing::field;
using testing::protobuf_fields;

// The examples of protobuf.dev/programming-guides/encoding.
TEST(Protobuf, WritesTheExamplesOfTheEncodingGuide) {
  ProtobufMessage one, two, three;
  one.number({1}, 150);
  EXPECT_EQ(one.bytes(), "\x08\x96\x01");
  two.text({2}, "testing");
  EXPECT_EQ(two.bytes(), "\x12\x07testing");
  three.message({3}, one);
  EXPECT_EQ(three.bytes(), "\x1a\x03\x08\x96\x01");
}

TEST(Protobuf, NumbersOfAnySizeComeBack) {
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, ~std::uint64_t{0}}) {
    ProtobufMessage message;
    message.number({60}, value);
    message.fixed({47}, value);
    EXPECT_EQ(field(protobuf_fields(message.bytes()), 60).number, value);
    EXPECT_EQ(field(protobuf_fields(message.bytes()), 47).number, value);
  }
  ProtobufMessage message;
  message.real({1}, 1.0);
  EXPECT_EQ(field(protobuf_fields(message.bytes()), 1).number, 0x3ff0000000000000u);
  message.clear();
  message.single({2}, 1.0F);
  EXPECT_EQ(message.bytes(), std::string_view("\x15\x00\x00\x80\x3f", 5));
}

}  // namespace
}  // namespace sim
