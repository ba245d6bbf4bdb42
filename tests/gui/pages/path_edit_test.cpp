#include "gui/pages/path_edit.h"

#include <gmock/gmock.h>

#include <QDir>
#include <QTest>

namespace gui {
namespace {

TEST(PathEdit, ShowsWholeFoldersFromTheEnd) {
  const QFontMetrics metrics{QFont()};
  const QString path = "/home/somebody/models/llama/config.json";
  const int two = metrics.horizontalAdvance("…/llama/config.json");
  EXPECT_EQ(shortenedPath(path, metrics, 10000), path);
  EXPECT_EQ(shortenedPath(path, metrics, two), "…/llama/config.json");
  EXPECT_EQ(shortenedPath(path, metrics, two - 1), "…/config.json");
  EXPECT_LE(metrics.horizontalAdvance(shortenedPath(path, metrics, 40)), 40);
  EXPECT_EQ(shortenedPath("h100-80gb-sxm", metrics, 10000), "h100-80gb-sxm");
}

TEST(PathEdit, ShowsWhereAPathLeadsFromHere) {
  EXPECT_EQ(pathFromHere(QDir::currentPath() + "/profiles/models/gpt2.json"), "profiles/models/gpt2.json");
  EXPECT_EQ(pathFromHere("/elsewhere/gpt2.json"), "/elsewhere/gpt2.json");
  EXPECT_EQ(pathFromHere(QDir::currentPath()), QDir::currentPath());
  EXPECT_EQ(pathFromHere("a100-80gb-sxm"), "a100-80gb-sxm");
  PathEdit whole, relative;
  for (PathEdit* line : {&whole, &relative}) line->resize(600, 24);
  whole.setText(QDir::currentPath() + "/profiles/models/gpt2.json");
  relative.setText("profiles/models/gpt2.json");
  EXPECT_EQ(whole.grab().toImage(), relative.grab().toImage());
}

TEST(PathEdit, HoldsThePathItself) {
  PathEdit line;
  line.resize(80, 24);
  line.setText("/home/somebody/models/llama/config.json");
  line.grab();
  EXPECT_EQ(line.text(), "/home/somebody/models/llama/config.json");
  EXPECT_EQ(line.toolTip(), line.text());
}

}  // namespace
}  // namespace gui
