// The window: the question and the knobs at the left, the pages in the middle, messages above them. Holds the session and lets the pages
// show it; every action stands in the menus with its shortcut.
#pragma once

#include <QMainWindow>
#include <QUndoStack>
#include <functional>

#include "gui/autosave.h"
#include "gui/core/file_kind.h"
#include "gui/jobs/background_job.h"
#include "gui/jobs/tool_process.h"
#include "gui/pages/actions.h"
#include "gui/session.h"
#include "sim/recipe/recipe.h"

class QDockWidget;
class QMenu;
class QTabWidget;

namespace gui {

class AnswersPage;
class ClusterPage;
class CommandPalette;
class ContextLine;
class ComparePage;
class KnobsPanel;
class MemoryPage;
class MessageBar;
class PlanPage;
class QuestionPanel;
class RunPage;
class TablePanel;
class TimelinePage;
class TracePage;
class View;

class MainWindow : public QMainWindow {
  Q_OBJECT
 public:
  explicit MainWindow(QWidget* parent = nullptr);

  void open(const QString& path) { openAll({path}); }  // whatever it is
  void cancelWork();                                   // search, opening, measuring
  QMenu* recentFiles() const { return recent_; }
  void openAll(const QStringList& paths);  // traces among them are ranks of one run
  void plan();                             // asks what stands in the form
  void measureMachine();                   // and puts its profile into the form
  void useData(const QString& path);       // to train on: tokens, or a text
  ToolProcess* tools() { return &tools_; }
  void saveShownPlan(const QString& path);
  void saveShownView(const QString& path);
  void exportPicture(const QString& path);
  void exportTable(const QString& path);
  bool isWorking() const;                      // something is asked for and not shown yet
  void pictureWhenReady(const QString& path);  // of the whole window, when all that was opened is shown; then the program ends
  void exportTimeline(const QString& path);    // of the plan; on the Compare page of both steps
  void exportMemory(const QString& path);      // of the plan, as PyTorch's snapshot
  void exportBundle(const QString& path);      // of the run that is compared
  void exportPlan(const sim::Program& program, const QString& folder);  // for another program to train by; what it leaves out is told
  void setColors(const QPalette& palette);
  void restoreLast();  // geometry and docks of the last window
  void keepState() const;
  void restoreWork();  // question, plans, view of the last window; from now on they are kept
  void beginWork();    // kept from now on, in place of the last window's
  void keepWork();     // at once what is not written yet
  void startAfresh();
  void askToStartAfresh();
  void findRunAgain(const QString& folder);

  Session* session() { return &session_; }
  QuestionPanel* question() const { return question_; }
  KnobsPanel* knobs() const { return knobs_; }
  PlanPage* planPage() const { return plan_page_; }
  TimelinePage* timelinePage() const { return timeline_page_; }
  MemoryPage* memoryPage() const { return memory_page_; }
  ClusterPage* clusterPage() const { return cluster_page_; }
  ComparePage* comparePage() const { return compare_page_; }
  RunPage* runPage() const { return run_page_; }
  TracePage* tracePage() const { return trace_page_; }
  AnswersPage* answersPage() const { return answers_page_; }
  MessageBar* message() const { return message_; }
  ContextLine* context() const { return context_; }
  QUndoStack* undoStack() { return &undo_; }
  QTabWidget* pages() const { return pages_; }
  const Actions& actions() const { return actions_; }
  CommandPalette* commands() const { return commands_; }

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;  // Esc: cancels what is going on

 private:
  void build();
  QDockWidget* addDock(const QString& title, QWidget* content, QWidget* footer = nullptr);
  void linkSession();
  void linkFiles();
  void linkPages();
  void linkStart();
  void linkContext();
  void linkWork();
  LastWork work() const;
  void goOn(const LastWork& work);
  void restoreAnswer();
  void keepAnswer(const SharedAnswer& answer);
  void addFileActions();
  void addContextMenus();
  void remember(const QString& path);
  void fillRecent();
  void showPage(int page);
  void keepLettersForMenus();
  QString suggestedName(const QString& ending) const;  // of a file to write: what it shows
  QString captionOf(const View& view) const;
  void addEditActions();
  void addRecipeActions();
  void addViewActions();
  void addThemes(const QString& menu);
  void edit(const sim::ParallelPlan& plan);        // undoable
  void choosePlan(const sim::ParallelPlan& plan);  // undoable: the one that is shown comes back
  void openOne(const QString& path, FileKind kind);
  void openPlan(const QString& path);
  void importPlan(const QString& recipe);  // of another program, for the model and the cluster of the form
  void tell(const Message& message);
  void tellNotes(const std::vector<sim::Violation>& of_config);  // what of it no plan takes
  void attempt(const std::function<void()>& action);             // what it throws is told
  void tellWritten(const QString& path);
  void writeBeside(const QString& path, std::function<void()> write);
  enum class Dialog { Open, Files, Folder, Save };  // Files: several, which openAll gets
  void choose(Dialog kind, const QString& title, const QString& filter, const std::function<void(const QString&)>& then);
  void choose(Dialog kind, const QString& title, const QString& filter, void (MainWindow::*then)(const QString&)) {
    choose(kind, title, filter, std::function<void(const QString&)>([this, then](const QString& path) { (this->*then)(path); }));
  }
  template <class Widget>
  Widget* focused() const;
  View* shownView() const;
  TablePanel* shownTable() const;

  Session session_;
  ToolProcess tools_;
  BackgroundJob writing_, keeping_;
  QUndoStack undo_;
  Autosave work_{[this] { return work(); }, this};
  Actions actions_{this};
  CommandPalette* commands_;
  QTabWidget* pages_;
  MessageBar* message_;
  ContextLine* context_;
  QMenu* recent_ = nullptr;
  QList<QDockWidget*> docks_;
  QuestionPanel* question_;
  KnobsPanel* knobs_;
  PlanPage* plan_page_;
  TimelinePage* timeline_page_;
  MemoryPage* memory_page_;
  ClusterPage* cluster_page_;
  ComparePage* compare_page_;
  RunPage* run_page_;
  TracePage* trace_page_;
  AnswersPage* answers_page_;
  bool keeps_work_ = false, keeps_state_ = false, refused_ = false;  // refused: the message says why a turned knob is not possible
};

}  // namespace gui
