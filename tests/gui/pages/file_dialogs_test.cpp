#include "gui/pages/file_dialogs.h"

#include <gmock/gmock.h>

#include <QLineEdit>
#include <QSettings>
#include <QTest>

namespace gui {
namespace {

TEST(FileDialogs, ANameIsSuggestedAndItsFolderRemembered) {
  const QTemporaryDir folder;
  QSettings().remove("folder/save");
  QWidget window;
  FileDialogs dialogs(&window);
  QString chosen;
  dialogs.save("Export", "Perfetto (*.perfetto-trace);;Chrome trace (*.json)", "gpt2-timeline",
               [&](const QString& path) { chosen = path; });
  auto* dialog = window.findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->defaultSuffix(), "perfetto-trace");
  EXPECT_THAT(dialog->selectedFiles().front().toStdString(), testing::EndsWith("gpt2-timeline.perfetto-trace"));
  dialog->selectFile(folder.filePath("a.json"));
  dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save)->click();
  EXPECT_EQ(chosen, folder.filePath("a.json"));
  EXPECT_EQ(QSettings().value("folder/save").toString(), QFileInfo(folder.path()).absoluteFilePath());
}

// Marked with the mouse, or typed as their names in quotes.
TEST(FileDialogs, SeveralFilesByTheirNamesInQuotes) {
  const QTemporaryDir folder;
  for (const char* name : {"rank0.json", "rank 1.json"}) {
    QFile file(folder.filePath(name));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
  }
  QSettings().remove("folder/open");
  QWidget window;
  FileDialogs dialogs(&window);
  QStringList chosen;
  dialogs.openSeveral("Open", "JSON (*.json)", [&](const QStringList& paths) { chosen = paths; });
  auto* dialog = window.findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  auto* line = dialog->findChild<QLineEdit*>("fileNameEdit");
  ASSERT_NE(line, nullptr);
  const QStringList wanted = {folder.filePath("rank0.json"), folder.filePath("rank 1.json")};
  line->setText('"' + wanted.join("\" \"") + '"');
  QMetaObject::invokeMethod(dialog, "accept");
  EXPECT_EQ(chosen.join('|').toStdString(), wanted.join('|').toStdString());
  EXPECT_EQ(QSettings().value("folder/open").toString(), QFileInfo(folder.path()).absoluteFilePath()) << "remembered for the next time";
}

}  // namespace
}  // namespace gui
