#include "gui/models/terms_filter.h"

#include <gmock/gmock.h>

#include <QAbstractItemModelTester>

#include "gui/models/table_item_model.h"

namespace gui {
namespace {

class Filtered : public testing::Test {
 protected:
  Filtered() {
    model_.setTable(
        {{"Schedule", "Step"}, {{{"1f1b", {}}, {"9 ms", 9}}, {{"gpipe", {}}, {"10 ms", 10}}, {{"interleaved", {}}, {"8 ms", 8}}}, {}});
    filter_.setSourceModel(&model_);
  }
  TableItemModel model_;
  TermsFilter filter_;
  QAbstractItemModelTester tester_{&filter_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(Filtered, EveryWordMustOccur) {
  filter_.setTerms("ms 1");
  EXPECT_EQ(filter_.rowCount(), 2);
  filter_.setTerms("GPIPE 10");
  EXPECT_EQ(filter_.rowCount(), 1);
  filter_.setTerms("");
  EXPECT_EQ(filter_.rowCount(), 3);
}

TEST_F(Filtered, AColumnCanBeNamed) {
  filter_.setTerms("schedule:1");
  ASSERT_EQ(filter_.rowCount(), 1);
  EXPECT_EQ(filter_.index(0, 0).data().toString(), "1f1b");
}

TEST_F(Filtered, SortsByValueNotByText) {
  filter_.sort(1);
  EXPECT_EQ(filter_.index(0, 1).data().toString(), "8 ms");
  EXPECT_EQ(filter_.index(2, 1).data().toString(), "10 ms");
}

}  // namespace
}  // namespace gui
