#include "gui/share.h"

#include <gmock/gmock.h>

#include "gui/views/line_view.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

class Shared : public testing::Test {
 protected:
  Shared() {
    view_.resize(300, 200);
    view_.setPoints({{1, 2}, {2, 1}});
  }
  QByteArray saved(const QString& name) {
    savePicture(view_, folder_.filePath(name));
    QFile file(folder_.filePath(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  LineView view_{"Loss"};
  QTemporaryDir folder_;
};

TEST_F(Shared, PicturesByTheEndingOfTheName) {
  EXPECT_TRUE(saved("a.png").startsWith("\x89PNG"));
  EXPECT_EQ(QImage(folder_.filePath("a.png")).size(), QSize(600, 400));
  EXPECT_TRUE(saved("a.svg").contains("<svg"));
  EXPECT_TRUE(saved("a.pdf").startsWith("%PDF"));
}

TEST_F(Shared, RefusesWithARemedy) {
  EXPECT_THROW(savePicture(view_, folder_.filePath("a.bmpx")), sim::InputError);
  EXPECT_THROW(savePicture(view_, "/no/such/folder/a.png"), sim::InputError);
}

TEST_F(Shared, TablesAsCsv) {
  saveTable({{"A"}, {{{"1", 1}}}, {}}, folder_.filePath("t.csv"));
  QFile file(folder_.filePath("t.csv"));
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_EQ(file.readAll(), "A\r\n1\r\n");
}

}  // namespace
}  // namespace gui
