#include "gui/pages/table_panel.h"

#include <gmock/gmock.h>

#include <QHeaderView>
#include <QTableView>

namespace gui {
namespace {

class Panel : public testing::Test {
 protected:
  Panel() { panel_.setTable({{"Name", "Size"}, {{{"b", {}}, {"9", 9}}, {{"a", {}}, {"10", 10}}, {{"c", {}}, {"8", 8}}}, {}}); }
  TablePanel panel_{"Things", TablePanel::Filter::Shown};
};

TEST_F(Panel, RowsAreNamedByPositionHoweverSorted) {
  int chosen = -1;
  QObject::connect(&panel_, &TablePanel::rowChosen, [&](int position) { chosen = position; });
  panel_.view()->sortByColumn(1, Qt::AscendingOrder);
  panel_.view()->selectRow(0);
  EXPECT_EQ(chosen, 2);
  EXPECT_EQ(panel_.chosen(), 2);
  panel_.choose(1);
  EXPECT_EQ(chosen, 1);
}

TEST_F(Panel, FiltersAndSaysWhatIsVisible) {
  panel_.setFilter("size:1");
  EXPECT_THAT(panel_.visibleRows(), testing::ElementsAre(false, true, false));
  EXPECT_EQ(panel_.visibleTable().rows.size(), 1u);
  EXPECT_EQ(panel_.table().rows.size(), 3u);
}

TEST(TablePanel, AColumnThatNoLongerTakesTheRestIsAsWideAsItsWords) {
  TablePanel panel("Things", TablePanel::Filter::Hidden);
  panel.resize(400, 200);
  panel.show();
  const std::vector<std::vector<Cell>> rows = {{{"embedding layer", {}}, {"activations", {}}}};
  panel.setStretchedColumn(0);
  panel.setTable({{"Layer", "Tensors"}, rows, {}});
  panel.setStretchedColumn(1);
  panel.setTable({{"Layer", "Tensors"}, rows, {}});
  const QHeaderView* header = panel.view()->horizontalHeader();
  EXPECT_EQ(header->sectionResizeMode(0), QHeaderView::Interactive);
  EXPECT_EQ(header->sectionResizeMode(1), QHeaderView::Stretch);
  EXPECT_GE(header->sectionSize(0), panel.view()->fontMetrics().horizontalAdvance("embedding layer"));
}

TEST(TablePanel, TheColumnThatTakesTheRestStaysReadable) {
  TablePanel panel("Numbers", TablePanel::Filter::Hidden);
  panel.setStretchedColumn(0);
  std::vector<Cell> row = {{"a name that says much", {}}};
  QStringList headers = {"Name"};
  for (int column = 0; column < 6; ++column) {
    row.push_back({"1,000,000 ms", 1});
    headers << "A number";
  }
  panel.setTable({headers, {row}, {}});
  panel.show();  // the table was there before anybody saw it, as behind a tab
  for (const int width : {1400, 300, 1400}) {
    panel.resize(width, 200);
    QCoreApplication::processEvents();
    EXPECT_GE(panel.view()->columnWidth(0), width == 300 ? 120 : 300) << width;
  }
  panel.resize(500, 200);  // it scrolls in any case: then the name is whole
  QCoreApplication::processEvents();
  EXPECT_GE(panel.view()->columnWidth(0), panel.view()->fontMetrics().horizontalAdvance("a name that says much"));
}

}  // namespace
}  // namespace gui
