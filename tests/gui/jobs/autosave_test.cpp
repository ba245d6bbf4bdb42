#include "gui/jobs/autosave.h"

#include <gmock/gmock.h>

#include <QTest>

namespace gui {
namespace {

class Saving : public testing::Test {
 protected:
  std::string model() const { return loadWork(path_.toStdString()).question.model; }
  QTemporaryDir folder_;
  QString path_ = folder_.filePath("work.json");
  LastWork work_{.question = {.model = "a", .cluster = "c"}, .plans = {}, .view = {}};
  Autosave saving_{[this] { return work_; }};
};

TEST_F(Saving, WritesAMomentAfterAChange) {
  saving_.changed();
  QTest::qWait(300);
  EXPECT_FALSE(QFile::exists(path_));  // not begun
  saving_.begin(path_);
  saving_.changed();
  ASSERT_TRUE(QTest::qWaitFor([this] { return QFile::exists(path_); }));
  EXPECT_EQ(model(), "a");
}

TEST_F(Saving, AtTheEndNothingIsLeftToWrite) {
  saving_.begin(path_);
  work_.question.model = "b";
  saving_.changed();
  saving_.finish();
  EXPECT_EQ(model(), "b");
  work_.question.model = "c";
  saving_.finish();  // nothing was said to have changed
  EXPECT_EQ(model(), "b");
  saving_.forget();
  saving_.changed();
  saving_.finish();
  EXPECT_EQ(model(), "b");
}

TEST_F(Saving, WhereNothingCanBeWrittenThatIsSaid) {
  QString problem;
  QObject::connect(&saving_, &Autosave::failed, [&](const Message& message) { problem = message.problem; });
  saving_.begin(folder_.path() + "/none/work.json");
  saving_.changed();
  EXPECT_TRUE(QTest::qWaitFor([&] { return !problem.isEmpty(); }));
}

}  // namespace
}  // namespace gui
