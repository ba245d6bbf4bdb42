#include "gui/pages/file_dialogs.h"

#include <QFileInfo>
#include <QRegularExpression>
#include <QSettings>

namespace gui {
namespace {

const QString kOpenFolder = QStringLiteral("folder/open"), kSaveFolder = QStringLiteral("folder/save");

}  // namespace

QFileDialog* FileDialogs::dialog(const QString& title, const QString& filter, QFileDialog::FileMode mode, const QString& kept) {
  auto* dialog = new QFileDialog(window_, title, QSettings().value(kept).toString(), filter);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(mode);
  dialog->setAcceptMode(kept == kSaveFolder ? QFileDialog::AcceptSave : QFileDialog::AcceptOpen);
  QObject::connect(dialog, &QFileDialog::filesSelected, window_,
                   [kept](const QStringList& paths) { QSettings().setValue(kept, QFileInfo(paths.front()).absolutePath()); });
  return dialog;
}

void FileDialogs::open(const QString& title, const Then& then) {
  QFileDialog* const asked = dialog(title, {}, QFileDialog::ExistingFile, kOpenFolder);
  QObject::connect(asked, &QFileDialog::fileSelected, window_, then);
  asked->open();
}

void FileDialogs::openSeveral(const QString& title, const QString& filter, const std::function<void(const QStringList&)>& then) {
  QFileDialog* const asked = dialog(title, filter, QFileDialog::ExistingFiles, kOpenFolder);
  QObject::connect(asked, &QFileDialog::filesSelected, window_, then);
  asked->open();
}

void FileDialogs::folder(const QString& title, const Then& then) {
  QFileDialog* const asked = dialog(title, {}, QFileDialog::Directory, kOpenFolder);
  QObject::connect(asked, &QFileDialog::fileSelected, window_, then);
  asked->open();
}

void FileDialogs::save(const QString& title, const QString& filter, const QString& name, const Then& then) {
  static const QRegularExpression ending(QStringLiteral("\\*\\.([\\w-]+)"));  // of a name that is typed without one
  QFileDialog* const asked = dialog(title, filter, QFileDialog::AnyFile, kSaveFolder);
  asked->setDefaultSuffix(ending.match(filter).captured(1));
  asked->selectFile(name + '.' + ending.match(filter).captured(1));
  QObject::connect(asked, &QFileDialog::fileSelected, window_, then);
  asked->open();
}

}  // namespace gui
