// The window: the question and the knobs at the left, the pages in the middle, messages above them. Holds the session and lets the pages
// show it. Knows no page's business: it links what one says with what another does.
#pragma once

#include <QMainWindow>
#include <QUndoStack>

#include "gui/kept_work.h"
#include "gui/pages/actions.h"
#include "gui/pages/appearance.h"
#include "gui/pages/documents.h"
#include "gui/pages/exports.h"
#include "gui/pages/file_dialogs.h"
#include "gui/pages/page_stack.h"
#include "gui/pages/preparation.h"
#include "gui/pages/waiting_line.h"
#include "gui/session.h"

class QDockWidget;

namespace gui {

class CommandPalette;
class ContextLine;
class KnobsPanel;
class MessageBar;
class QuestionPanel;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(QWidget* parent = nullptr);

  void open(const QString& path) { documents_.open({path}); }  // whatever it is
  void openAll(const QStringList& paths) { documents_.open(paths); }
  void plan();                                 // asks what stands in the form
  void cancelWork();                           // all that somebody waits for
  bool isWorking() const;                      // something is asked for and not shown yet
  void pictureWhenReady(const QString& path);  // of the whole window, when all that was opened is shown; then the program ends
  void restoreLast();                          // geometry and docks of the last window
  void keepState() const;
  void startAfresh();
  void askToStartAfresh();
  void findRunAgain(const QString& folder);

  Session* session() { return &session_; }
  Exports* exports() { return &exports_; }
  Documents* documents() { return &documents_; }
  KeptWork* work() { return &work_; }
  Preparation* preparation() { return &preparation_; }
  QuestionPanel* question() const { return question_; }
  KnobsPanel* knobs() const { return knobs_; }
  PageStack* pages() const { return pages_; }
  PlanPage* planPage() const { return pages_->plan(); }
  TimelinePage* timelinePage() const { return pages_->timeline(); }
  MemoryPage* memoryPage() const { return pages_->memory(); }
  ClusterPage* clusterPage() const { return pages_->cluster(); }
  ComparePage* comparePage() const { return pages_->compare(); }
  RunPage* runPage() const { return pages_->run(); }
  TracePage* tracePage() const { return pages_->trace(); }
  AnswersPage* answersPage() const { return pages_->answers(); }
  MessageBar* message() const { return message_; }
  ContextLine* context() const { return context_; }
  QUndoStack* undoStack() { return &undo_; }
  const Actions& actions() const { return actions_; }
  CommandPalette* commands() const { return commands_; }

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;  // Esc: cancels what is going on

 private:
  void build();
  void fitScreen();
  void linkSession();
  void linkFiles();
  void linkPages();
  void linkStart();
  void linkContext();
  TimelineActions addActions();
  void edit(const sim::ParallelPlan& plan);        // undoable
  void choosePlan(const sim::ParallelPlan& plan);  // undoable: the one that is shown comes back
  void say(const QString& words);
  void tell(const Message& message);

  Session session_{this};
  QUndoStack undo_;
  Actions actions_{this};
  FileDialogs dialogs_{this};
  Appearance appearance_{this};
  WaitingLine waiting_{statusBar()};
  CommandPalette* commands_;
  MessageBar* message_;
  ContextLine* context_;
  QList<QDockWidget*> docks_;
  QuestionPanel* question_;
  KnobsPanel* knobs_;
  PageStack* pages_;
  Documents documents_;
  Exports exports_;
  Preparation preparation_;
  KeptWork work_;                               // behind the actions, which it keeps, too
  bool keeps_state_ = false, refused_ = false;  // refused: the message says why a turned knob is not possible
};

}  // namespace gui
