#include "gui/pages/exports.h"

#include <QAction>
#include <QFileInfo>
#include <QTableView>

#include "gui/import/run_bundle.h"
#include "gui/models/reason_text.h"
#include "gui/pages/actions.h"
#include "gui/pages/compare_page.h"
#include "gui/pages/file_dialogs.h"
#include "gui/pages/page_stack.h"
#include "gui/pages/share.h"
#include "gui/pages/table_panel.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/trace_page.h"
#include "gui/views/legend_view.h"
#include "gui/views/view.h"

namespace gui {

Exports::Exports(PageStack& pages, FileDialogs& dialogs, QObject* parent)
    : QObject(parent), pages_(pages), dialogs_(dialogs), writing_(this) {
  connect(&writing_, &BackgroundJob::failed, this, &Exports::told);
}

void Exports::addActions(Actions& actions) {
  const auto add = [&](const QString& text, const QKeySequence& keys, const QString& title, const QString& filter,
                       void (Exports::*write)(const QString&)) {
    return actions.add({tr("&File"), text, keys}, [this, title, filter, write] {
      dialogs_.save(title, filter, suggestedName(), [this, write](const QString& path) { (this->*write)(path); });
    });
  };
  add(tr("&Save the plan…"), QKeySequence::Save, tr("Save the plan"), tr("Plan (*.json)"), &Exports::plan);
  add(tr("Save the &view of the timeline…"), tr("Ctrl+Shift+S"), tr("Save the view of the timeline"), tr("View (*.json)"), &Exports::view);
  picture_ =
      add(tr("Export the &picture…"), tr("Ctrl+E"), tr("Export the picture"), tr("PNG, SVG, PDF (*.png *.svg *.pdf)"), &Exports::picture);
  table_ = add(tr("Export the &table…"), tr("Ctrl+Shift+E"), tr("Export the table"), tr("CSV (*.csv)"), &Exports::table);
  add(tr("Export the time&line…"), tr("Ctrl+T"), tr("Export the timeline"), tr("Perfetto (*.perfetto-trace);;Chrome trace (*.json)"),
      &Exports::timeline);
  add(tr("Export the &memory…"), tr("Ctrl+Shift+T"), tr("Export the memory"), tr("Memory snapshot of PyTorch (*.pickle)"),
      &Exports::memory);
  add(tr("Export the run as a &bundle…"), tr("Ctrl+B"), tr("Export the run as a bundle"), tr("Bundle (*.zip)"), &Exports::bundle);
}

void Exports::standInContextMenus(const QWidget& window) {
  for (View* view : window.findChildren<View*>()) {
    view->addAction(picture_);
    if (view->contextMenuPolicy() == Qt::DefaultContextMenu && view->actions().size() == 1)
      view->setContextMenuPolicy(Qt::ActionsContextMenu);
  }
  for (TablePanel* table : window.findChildren<TablePanel*>()) table->view()->addAction(table_);
}

QList<QAction*> Exports::addRecipeActions(Actions& actions) {
  QList<QAction*> exports;
  for (const sim::Program* program : sim::all_programs()) {
    const QString title = QString::fromUtf8(program->title.data(), static_cast<qsizetype>(program->title.size()));
    exports << actions.add(
        {tr("&Run"), tr("Export the plan for %1…").arg(title), tr("Ctrl+Alt+%1").arg(exports.size() + 1)}, [this, program, title] {
          dialogs_.folder(tr("Export the plan for %1…").arg(title), [this, program](const QString& folder) { recipe(*program, folder); });
        });
  }
  return exports;
}

void Exports::attempt(const std::function<void()>& action) {
  try {
    action();
  } catch (...) {
    Q_EMIT told(messageOf(std::current_exception()));
  }
}

void Exports::sayWritten(const QString& path) { Q_EMIT said(tr("%1 is written.").arg(path)); }

// Millions of slices, gigabytes of a run take long: beside the window's thread.
void Exports::writeBeside(const QString& path, std::function<void(Progress& progress)> write) {
  writing_.start(tr("Writing %1").arg(QFileInfo(path).fileName()),
                 [this, path, write = std::move(write)](Progress& progress) -> BackgroundJob::Finish {
                   write(progress);
                   return [this, path] { sayWritten(path); };
                 });
}

// "gpt2-xl-timeline": what it is of, where it is shown.
QString Exports::suggestedName() const {
  const QString model = QFileInfo(model_).completeBaseName();
  return QStringLiteral("%1-%2").arg(model.isEmpty() ? QStringLiteral("meshwright") : model, pages_.shownName());
}

QString Exports::captionOf(const View& view) const {
  const bool is_of_plan = plan_ && pages_.showsPlan();
  return is_of_plan ? view.accessibleName() + QStringLiteral(": ") + sentenceText(summaryOf(plan_->plan)) : view.accessibleName();
}

void Exports::picture(const QString& path) {
  attempt([&] {
    View* const view = pages_.shownView();
    savePicture(*view, path, {captionOf(*view), pages_.currentWidget()->findChild<LegendView*>()});
    sayWritten(path);
  });
}

void Exports::table(const QString& path) {
  attempt([&] {
    saveTable(pages_.shownTable()->visibleTable(), path);
    sayWritten(path);
  });
}

void Exports::plan(const QString& path) {
  attempt([&] {
    if (!plan_) return told({tr("There is no plan to save."), tr("choose one on the Plan page first")});
    sim::save_plan(withPredictions(*plan_), path.toStdString());
    sayWritten(path);
  });
}

void Exports::view(const QString& path) {
  attempt([&] {
    saveView(pages_.currentWidget() == pages_.trace() ? pages_.trace()->viewState() : pages_.timeline()->viewState(), path.toStdString());
    sayWritten(path);
  });
}

void Exports::timeline(const QString& path) {
  std::vector<ComparedSide> steps;
  if (const SharedComparison& compared = pages_.compare()->comparison(); compared && pages_.currentWidget() == pages_.compare())
    steps = {compared->left, compared->right};
  else if (plan_)
    steps = {simulatedSide(plan_)}, steps.front().name.insert(0, "simulated: ");
  else
    return told({tr("There is no timeline to write."), tr("choose a plan on the Plan page first")});
  writeBeside(path, [steps, path](Progress& progress) { saveTimelines(steps, path, ProgressPart{progress}); });
}

void Exports::memory(const QString& path) {
  if (!plan_) return told({tr("There is no memory to write."), tr("choose a plan on the Plan page first")});
  writeBeside(path, [plan = plan_, path](Progress& progress) { saveMemory(*plan, path, ProgressPart{progress}); });
}

void Exports::bundle(const QString& path) {
  if (!run_) return told({tr("There is no run to export."), tr("open a run folder first")});
  writeBeside(path, [run = run_, path](Progress& progress) { writeBundle(run->folder, path.toStdString(), progress); });
}

void Exports::recipe(const sim::Program& program, const QString& folder) {
  attempt([&] {
    if (!plan_) return told({tr("There is no plan to save."), tr("choose one on the Plan page first")});
    const sim::Recipe recipe = sim::export_recipe(program, plan_->plan, folder.toStdString());
    QStringList files;
    for (const sim::RecipeFile& file : recipe.files) files << QString::fromStdString(file.name);
    Q_EMIT told({tr("Written into %1: %2.").arg(folder, files.join(QStringLiteral(", "))),
                 recipe.notes.empty() ? tr("nothing is left out") : tr("left to the program: %1").arg(notesText(recipe.notes))});
  });
}

}  // namespace gui
