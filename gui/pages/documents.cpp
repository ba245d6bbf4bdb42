#include "gui/pages/documents.h"

#include <QAction>
#include <QDir>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"
#include "gui/pages/actions.h"
#include "gui/pages/context_line.h"
#include "gui/pages/file_dialogs.h"
#include "gui/pages/page_stack.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/trace_page.h"
#include "sim/model/config_notes.h"
#include "sim/recipe/recipe.h"

namespace gui {
namespace {

const QString kRecent = QStringLiteral("files/recent");

// A folder that is no run stands for what lies in it: traces of all ranks, or a model.
QStringList filesOf(const QStringList& paths) {
  QStringList files;
  for (const QString& path : paths) {
    const QDir folder(path);
    const bool is_run = !QFileInfo(path).isDir() || folder.exists(QStringLiteral("plan.json"));
    const QStringList inside =
        is_run ? QStringList() : folder.entryList({QStringLiteral("*.json"), QStringLiteral("*.json.gz")}, QDir::Files, QDir::Name);
    if (inside.isEmpty())
      files << path;
    else if (inside.contains(QStringLiteral("config.json")))
      files << folder.filePath(QStringLiteral("config.json"));
    else
      for (const QString& file : inside) files << folder.filePath(file);
  }
  return files;
}

}  // namespace

Documents::Documents(const Places& places, FileDialogs& dialogs, QObject* parent) : QObject(parent), to_(places), dialogs_(dialogs) {}

void Documents::addActions(Actions& actions) {
  const QString file = tr("&File");
  actions.add({file, tr("&Open a model, plan, cluster or trace…"), QKeySequence::Open}, [this] { browse(); });
  actions.add({file, tr("Open a &run folder…"), tr("Ctrl+Shift+O")}, [this] { browseRun(); });
  recent_ = actions.addMenu(file, tr("Open a re&cent file"));
  connect(recent_, &QMenu::aboutToShow, this, &Documents::fillRecent);
}

void Documents::browse() {
  dialogs_.openSeveral(
      tr("Open a model, plan, cluster or traces"),
      tr("JSON, snapshots, configurations (*.json *.json.gz *.pickle *.pkl *.zip *.yaml *.yml *.sh *.py *.toml);;All files (*)"),
      [this](const QStringList& paths) { open(paths); });
}

void Documents::browseRun() {
  dialogs_.folder(tr("Open a run folder"), [this](const QString& folder) { open({folder}); });
}

void Documents::keep(const QString& path) {
  constexpr qsizetype kMost = 12;
  if (!remembers_ || !QFileInfo::exists(path)) return;
  const QString file = QFileInfo(path).absoluteFilePath();
  QStringList files = QSettings().value(kRecent).toStringList();
  files.removeAll(file);
  files.prepend(file);
  QSettings().setValue(kRecent, QStringList(files.mid(0, kMost)));
}

void Documents::fillRecent() {
  recent_->clear();
  for (const QString& file : QSettings().value(kRecent).toStringList())
    if (QFileInfo::exists(file)) recent_->addAction(QString(file).replace('&', QStringLiteral("&&")), this, [this, file] { open({file}); });
  if (recent_->isEmpty()) recent_->addAction(tr("none yet"))->setEnabled(false);
}

void Documents::open(const QStringList& paths) {
  try {
    std::vector<std::string> traces;
    for (const QString& path : paths) keep(path);
    for (const QString& path : filesOf(paths)) {
      const FileKind kind = kindOfFile(path.toStdString());
      if (kind == FileKind::Trace)
        traces.push_back(path.toStdString());
      else
        openOne(path, kind);
    }
    if (!traces.empty()) Q_EMIT tracesWanted(traces);
  } catch (...) {
    Q_EMIT told(messageOf(std::current_exception()));
  }
}

void Documents::openOne(const QString& path, FileKind kind) {
  switch (kind) {
    case FileKind::Trace: return Q_EMIT tracesWanted({path.toStdString()});
    case FileKind::Bundle: return Q_EMIT bundleWanted(path);
    case FileKind::Snapshot: return Q_EMIT snapshotWanted(path.toStdString());
    case FileKind::View: return openView(path);
    case FileKind::RunFolder: return openRun(path);
    case FileKind::Plan: return openPlan(path);
    case FileKind::Recipe: return importPlan(path);
    case FileKind::Cluster: return openCluster(path);
    case FileKind::Model: return openModel(path);
  }
}

void Documents::openModel(const QString& path) {
  PlanQuestion asked = to_.question.question();
  asked.model = path.toStdString();
  asked.sequence = sequenceFor(sim::load_model_config(asked.model), asked.sequence);
  to_.question.setQuestion(asked);
  Q_EMIT answered();
  const QString facts = to_.context.modelFacts();
  Q_EMIT said(tr("%1. Press Plan (Ctrl+Return).").arg(facts.isEmpty() ? tr("%1 is opened").arg(path) : facts));
  if (const std::vector<sim::Violation> notes = sim::config_notes(asked.model); !notes.empty())
    Q_EMIT told({tr("Not everything in this config.json is taken."), notesText(notes)});
}

void Documents::openCluster(const QString& path) {
  PlanQuestion asked = to_.question.question();
  asked.devices = devicesOf(path.toStdString(), asked.devices);
  asked.cluster = path.toStdString();
  to_.question.setQuestion(asked);
  Q_EMIT answered();
  Q_EMIT said(tr("%1. Press Plan (Ctrl+Return).").arg(tr("%1 is opened").arg(path)));
}

void Documents::openView(const QString& path) {
  const ViewState view = loadView(path.toStdString());
  if (to_.pages.currentWidget() == to_.pages.trace()) return to_.pages.trace()->setViewState(view);
  to_.pages.timeline()->setViewState(view);
  to_.pages.setCurrentWidget(to_.pages.timeline());
}

void Documents::openRun(const QString& folder) {
  to_.pages.run()->follow(folder);
  if (!to_.pages.run()->process()->isAlive()) return Q_EMIT runWanted(folder);
  to_.pages.setCurrentWidget(to_.pages.run());  // there is nothing to compare before it has ended
}

void Documents::openPlan(const QString& path) {
  const sim::ParallelPlan plan = sim::load_plan(path.toStdString());
  to_.question.setQuestion(questionOf(plan, path.toStdString(), to_.question.question()));
  to_.context.setLimit({});
  Q_EMIT planOpened(plan);
  to_.pages.setCurrentWidget(to_.pages.timeline());
}

void Documents::importPlan(const QString& recipe) {
  const PlanQuestion asked = to_.question.question();
  const planner::SearchRequest request = searchRequest(asked);
  const sim::ImportedPlan imported = sim::import_recipe(
      recipe.toStdString(),
      {.model = request.model, .cluster = request.cluster, .sequence = asked.sequence, .global_batch = asked.global_batch});
  to_.question.setQuestion(questionOf(imported.plan, {}, asked));
  Q_EMIT planOpened(imported.plan);
  to_.pages.setCurrentWidget(to_.pages.timeline());
  const std::vector<sim::Violation> notes = sim::told(imported);
  if (!notes.empty())
    Q_EMIT told({tr("A plan of %1 is read.").arg(textOf(imported.program->title)), tr("left out: %1").arg(notesText(notes))});
}

}  // namespace gui
