#include <ATen/ops/arange.h>

#include "executor/training/safetensors.h"
#include "sim/units/input_error.h"
#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(SafetensorsHeader, RoundTrip) {
  const std::vector<NamedTensor> tensors{{.name = "w", .values = at::arange(6, at::kDouble).view({2, 3})}};
  const std::string header = safetensors_header(tensors);
  EXPECT_EQ(header.size() % 8, 0U);
  EXPECT_TRUE(header.starts_with(
      R"({"__metadata__":{"format":"pt","producer":"meshwright"},"w":{"dtype":"F64","shape":[2,3],"data_offsets":[0,48]}})"));
  const auto entries = parse_safetensors_header(header, "x");
  EXPECT_EQ(entries.at("w").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(entries.at("w").end, 48U);
}

TEST(SafetensorsHeader, ForeignMetadataIsSkippedAndLiesAreRefused) {
  EXPECT_TRUE(parse_safetensors_header(R"({"__metadata__":{"format":"pt"}})", "x").empty());
  for (const char* header :
       {R"({"w":{"dtype":"F64","shape":[2,3],"data_offsets":[0,47]}})", R"({"w":{"dtype":"X","shape":[],"data_offsets":[0,8]}})",
        R"({"w":{"dtype":"F64","shape":[1],"data_offsets":[8]}})", "{"})
    EXPECT_THROW(parse_safetensors_header(header, "x"), sim::InputError) << header;
}

}  // namespace
}  // namespace executor
