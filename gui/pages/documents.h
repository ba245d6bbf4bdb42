// Whatever a person opens: what it is is found out from its content, and it is led to the page or form that shows it. Remembers what was opened.
#pragma once

#include <QObject>
#include <string>
#include <vector>

#include "gui/core/file_kind.h"
#include "gui/jobs/message.h"
#include "sim/plan/parallel_plan.h"

class QMenu;

namespace gui {

class Actions;
class ContextLine;
class FileDialogs;
class PageStack;
class QuestionPanel;

class Documents : public QObject {
  Q_OBJECT
 public:
  struct Places {  // where things lead to
    PageStack& pages;
    QuestionPanel& question;
    ContextLine& context;
  };
  Documents(const Places& places, FileDialogs& dialogs, QObject* parent);
  void addActions(Actions& actions);    // of the menu File
  void open(const QStringList& paths);  // traces among them are ranks of one run
  void browse();
  void browseRun();
  void remember(bool from_now_on) { remembers_ = from_now_on; }
  QMenu* recent() const { return recent_; }

 Q_SIGNALS:
  void tracesWanted(const std::vector<std::string>& paths);  // these four are read beside the window
  void snapshotWanted(const std::string& path);
  void bundleWanted(const QString& path);
  void runWanted(const QString& folder);
  void planOpened(const sim::ParallelPlan& plan);  // the question is from now on the one that it answers
  void said(const QString& words);
  void told(const gui::Message& message);
  void answered();  // what was told before no longer holds

 private:
  void openOne(const QString& path, FileKind kind);
  void openModel(const QString& path);
  void openCluster(const QString& path);
  void openView(const QString& path);
  void openRun(const QString& folder);
  void openPlan(const QString& path);
  void importPlan(const QString& recipe);  // of another program, for the model and the cluster of the form
  void keep(const QString& path);
  void fillRecent();

  Places to_;
  FileDialogs& dialogs_;
  QMenu* recent_ = nullptr;
  bool remembers_ = false;
};

}  // namespace gui
