#include "sim/model/unread_networks.h"

#include <gmock/gmock.h>

#include "sim/model/family.h"
#include "sim/model/model_config.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal_of_name(const std::string& name) {
  try {
    model_config_from_json({{"model_type", name}}, "file");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(UnreadNetworks, TheReasonIsTold) {
  EXPECT_THAT(refusal_of_name("deberta-v2"), AllOf(HasSubstr("disentangled attention"), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(refusal_of_name("mllama_text_model"), HasSubstr("blocks that attend to images"));
  EXPECT_THAT(refusal_of_name("debertha"), Not(HasSubstr("disentangled"))) << "a slip is none of them";
}

// A row that is read would never be told.
TEST(UnreadNetworks, NoneIsRead) {
  for (const auto families : all_families())
    for (const Family& family : families) EXPECT_FALSE(why_unread(family.name)) << family.name;
}

}  // namespace
}  // namespace sim
