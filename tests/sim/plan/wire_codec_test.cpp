#include "sim/plan/wire_codec.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(WireCodec, ReadsWhatItWrites) {
  for (const char* text : {"fp8", "int8", "int4", "powersgd:1", "powersgd:32"}) {
    const auto codec = parse_wire_codec(text);
    ASSERT_TRUE(codec) << text;
    EXPECT_EQ(to_text(*codec), text);
  }
  for (const char* text :
       {"", "bf16", "fp16", "int3", "int8:2", "powersgd", "powersgd:", "powersgd:0", "powersgd:-1", "powersgd:2x", "powersgd:1025"})
    EXPECT_FALSE(parse_wire_codec(text)) << text;
}

// 4096 numbers and a scale of 4 bytes for 64 of them; a block that is not full has a scale, too.
TEST(WireCodec, BytesOfBlocks) {
  EXPECT_EQ(encoded_bytes(Codec::Bf16, 4096), Bytes(8192));
  EXPECT_EQ(encoded_bytes(Codec::Fp16, 4096), Bytes(8192));
  EXPECT_EQ(encoded_bytes(Codec::Fp8, 4096), Bytes(4096 + 256));
  EXPECT_EQ(encoded_bytes(Codec::Int8, 4096), Bytes(4096 + 256));
  EXPECT_EQ(encoded_bytes(Codec::Int4, 4096), Bytes(2048 + 256));
  EXPECT_EQ(encoded_bytes(Codec::Int4, 65), Bytes(33 + 8));
}

// PyTorch's rule: 2 r (n + m) < n m. Vectors never are.
TEST(WireCodec, MatricesOfLowRank) {
  const WireCodec rank_2{Codec::PowerSgd, 2}, rank_9{Codec::PowerSgd, 9};
  EXPECT_EQ(low_rank_columns({32, 64}, rank_2), 2);
  EXPECT_EQ(low_rank_columns({32, 64}, rank_9), 9);
  EXPECT_EQ(low_rank_columns({8, 8}, rank_2), 0) << "64 numbers for 64";
  EXPECT_EQ(low_rank_columns({9, 8}, rank_2), 2) << "68 for 72";
  EXPECT_EQ(low_rank_columns({4096, 1}, rank_2), 0);
  EXPECT_EQ(low_rank_columns({4096, 6}, rank_9), 0) << "no more columns than the matrix has";
  EXPECT_EQ(low_rank_columns({32, 64}, {Codec::Int8, 0}), 0);
}

TEST(WireCodec, RowsSayWhatTheyAreOf) {
  for (const CodecRow& row : all_codecs()) {
    EXPECT_EQ(&codec_row(row.codec), &row);
    EXPECT_TRUE(row.of_gradients || row.of_weights) << row.name;
    EXPECT_EQ(row.bits == 0, row.form == CodecForm::LowRank) << row.name;
  }
}

}  // namespace
}  // namespace sim
