// Asks for files without stopping the window: each dialog opens and tells what was chosen. The folder is remembered, one for opening and one for
// saving.
#pragma once

#include <QFileDialog>
#include <functional>

namespace gui {

class FileDialogs {
 public:
  using Then = std::function<void(const QString& path)>;
  explicit FileDialogs(QWidget* window) : window_(window) {}
  void open(const QString& title, const Then& then);
  void openSeveral(const QString& title, const QString& filter, const std::function<void(const QStringList& paths)>& then);
  void folder(const QString& title, const Then& then);
  void save(const QString& title, const QString& filter, const QString& name, const Then& then);  // name: suggested, without its ending

 private:
  QFileDialog* dialog(const QString& title, const QString& filter, QFileDialog::FileMode mode, const QString& kept);
  QWidget* window_;
};

}  // namespace gui
