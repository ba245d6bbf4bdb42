#include "gui/pages/file_dialogs.h"

#include <gmock/gmock.h>

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

}  // namespace
}  // namespace gui
