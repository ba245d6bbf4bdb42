// What has to be there before a plan or a run: this machine measured, a text as tokens. Commands of meshwright do it beside the window.
#pragma once

#include <QObject>

#include "gui/jobs/tool_process.h"

namespace gui {

class Actions;
class QuestionPanel;
class RunPage;

class Preparation : public QObject {
  Q_OBJECT
 public:
  struct Places {  // that what was made is put into
    QuestionPanel& question;
    RunPage& run;
  };
  Preparation(const Places& places, QObject* parent);
  void addActions(Actions& actions);  // of the menu Plan
  void measureMachine();              // its profile stands in the form
  void useData(const QString& path);  // to train on: tokens, or a text
  ToolProcess* tools() { return &tools_; }

 Q_SIGNALS:
  void said(const QString& words);

 private:
  Places to_;
  ToolProcess tools_;
};

}  // namespace gui
