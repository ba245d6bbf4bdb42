// Plans that leave for other programs, and come from them. What they cannot say stands in the message, and in the file's head.
#include <QAction>
#include <QTabWidget>

#include "gui/main_window.h"
#include "gui/message_bar.h"
#include "gui/models/reason_text.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"

namespace gui {
namespace {

constexpr qsizetype kShownNotes = 4;

QString notesText(const std::vector<sim::Violation>& notes) {
  QStringList texts;
  for (const sim::Violation& note : notes) {
    if (texts.size() == kShownNotes) {
      texts << QCoreApplication::translate("Message", "and %1 more").arg(static_cast<qsizetype>(notes.size()) - kShownNotes);
      break;
    }
    texts << (note.where.empty() ? QString() : QString::fromStdString(note.where) + ' ') + sentenceText(note.problem);
  }
  return texts.join(QStringLiteral("; "));
}

}  // namespace

void MainWindow::addRecipeActions() {
  QList<QAction*> exports;
  for (const sim::Program* program : sim::all_programs()) {
    const QString title = QString::fromUtf8(program->title.data(), static_cast<qsizetype>(program->title.size()));
    exports << actions_.add({tr("&Run"), tr("Export the plan for %1…").arg(title), tr("Ctrl+Alt+%1").arg(exports.size() + 1)},
                            [this, program, title] {
                              choose(Dialog::Folder, tr("Export the plan for %1…").arg(title), QString(),
                                     [this, program](const QString& folder) { exportPlan(*program, folder); });
                            });
  }
  run_page_->setExports(exports);
}

void MainWindow::exportPlan(const sim::Program& program, const QString& folder) {
  try {
    if (!session_.plan()) return tell({tr("There is no plan to save."), tr("choose one on the Plan page first")});
    const sim::Recipe recipe = sim::export_recipe(program, session_.plan()->plan, folder.toStdString());
    QStringList files;
    for (const sim::RecipeFile& file : recipe.files) files << QString::fromStdString(file.name);
    tell({tr("Written into %1: %2.").arg(folder, files.join(QStringLiteral(", "))),
          recipe.notes.empty() ? tr("nothing is left out") : tr("left to the program: %1").arg(notesText(recipe.notes))});
  } catch (...) {
    tell(messageOf(std::current_exception()));
  }
}

void MainWindow::tellNotes(const std::vector<sim::Violation>& of_config) {
  if (!of_config.empty()) tell({tr("Not everything in this config.json is taken."), notesText(of_config)});
}

void MainWindow::importPlan(const QString& recipe) {
  const PlanQuestion asked = question_->question();
  const planner::SearchRequest request = searchRequest(asked);
  const sim::ImportedPlan imported = sim::import_recipe(
      recipe.toStdString(),
      {.model = request.model, .cluster = request.cluster, .sequence = asked.sequence, .global_batch = asked.global_batch});
  question_->setQuestion(questionOf(imported.plan, {}, asked));
  choosePlan(imported.plan);
  pages_->setCurrentWidget(timeline_page_);
  const QString title = QString::fromUtf8(imported.program->title.data(), static_cast<qsizetype>(imported.program->title.size()));
  const std::vector<sim::Violation> told = sim::told(imported);
  if (!told.empty()) tell({tr("A plan of %1 is read.").arg(title), tr("left out: %1").arg(notesText(told))});
}

}  // namespace gui
