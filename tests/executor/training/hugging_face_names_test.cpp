#include "executor/training/hugging_face_names.h"

#include <gmock/gmock.h>

#include <set>

#include "sim/model/family.h"

namespace executor {
namespace {

const FamilyNames* names_of(const std::string& family) {
  sim::ModelConfig config;
  config.model_type = family;
  return find_names(config);
}

TEST(HuggingFaceNames, EachParameterStandsOnceInATable) {
  int known = 0;
  for (const auto families : sim::all_families())
    for (const sim::Family& family : families) {
      const FamilyNames* names = names_of(std::string(family.name));
      if (names == nullptr) continue;
      ++known;
      for (const auto rows : {names->rows, names->instead}) {
        std::set<std::string_view> met;
        for (const WeightRow& row : rows) EXPECT_TRUE(met.insert(row.ours).second) << family.name << ", " << row.ours;
      }
    }
  EXPECT_GE(known, 52);
}

TEST(HuggingFaceNames, ABlockHasANumberAndAnExpertToo) {
  for (const WeightRow& row : names_of("minimax_m2")->instead) {
    EXPECT_NE(row.theirs.front().find("{}"), std::string_view::npos) << row.ours;
    EXPECT_EQ(row.theirs.front().find(kExpertMark) != std::string_view::npos, row.ours.starts_with("mlp.experts")) << row.ours;
  }
}

TEST(HuggingFaceNames, AFamilyThatIsNotThereHasNone) {
  EXPECT_EQ(names_of("rwkv"), nullptr);
  EXPECT_EQ(names_of("nomic_bert"), nullptr);
}

}  // namespace
}  // namespace executor
