// What leaves the window as a file: the picture or table in front, the plan, the view, timelines, memory, a run as a bundle, the plan for another
// program. Its actions stand in the menus File and Run.
#pragma once

#include <QObject>
#include <functional>

#include "gui/core/measured_run.h"
#include "gui/jobs/background_job.h"
#include "sim/recipe/recipe.h"

class QAction;

namespace gui {

class Actions;
class FileDialogs;
class PageStack;
class View;

class Exports : public QObject {
  Q_OBJECT
 public:
  Exports(PageStack& pages, FileDialogs& dialogs, QObject* parent);
  void addActions(Actions& actions);                   // of the menu File
  QList<QAction*> addRecipeActions(Actions& actions);  // of the menu Run
  void standInContextMenus(const QWidget& window);     // of every picture and table
  void nameAfter(const QString& model) { model_ = model; }
  void setPlan(const SharedPlan& plan) { plan_ = plan; }
  void setRun(const SharedRun& run) { run_ = run; }

  void plan(const QString& path);
  void view(const QString& path);
  void picture(const QString& path);
  void table(const QString& path);
  void timeline(const QString& path);                               // of the plan; on the Compare page of both steps
  void memory(const QString& path);                                 // of the plan, as PyTorch's snapshot
  void bundle(const QString& path);                                 // of the run that is compared
  void recipe(const sim::Program& program, const QString& folder);  // for another program to train by; what it leaves out is told

 Q_SIGNALS:
  void said(const QString& words);
  void told(const gui::Message& message);

 private:
  void attempt(const std::function<void()>& action);  // what it throws is told
  void sayWritten(const QString& path);
  void writeBeside(const QString& path, std::function<void(Progress& progress)> write);
  QString captionOf(const View& view) const;
  QString suggestedName() const;

  PageStack& pages_;
  FileDialogs& dialogs_;
  BackgroundJob writing_;
  QAction *picture_ = nullptr, *table_ = nullptr;
  QString model_;
  SharedPlan plan_;
  SharedRun run_;
};

}  // namespace gui
