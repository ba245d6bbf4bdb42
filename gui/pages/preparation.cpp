#include "gui/pages/preparation.h"

#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>

#include "gui/pages/actions.h"
#include "gui/pages/question_panel.h"
#include "gui/pages/run_page.h"

namespace gui {

Preparation::Preparation(const Places& places, QObject* parent) : QObject(parent), to_(places), tools_(this) {}

void Preparation::addActions(Actions& actions) {
  actions.add({tr("&Plan"), tr("&Measure this machine"), tr("Ctrl+Shift+M")}, [this] { measureMachine(); });
}

// A question that a few cores can answer: what a GPU does in a second takes them an hour.
void Preparation::measureMachine() {
  constexpr int kRanks = 2, kBatch = 8, kSequence = 128;
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation),
                profile = folder + QStringLiteral("/this_machine.json");
  QDir().mkpath(folder);
  tools_.start(tr("Measuring this machine"),
               {QStringLiteral("measure"), QStringLiteral("--ranks"), QStringLiteral("1,%1").arg(kRanks), QStringLiteral("-o"), profile},
               [this, profile](const QString&) {
                 PlanQuestion asked = to_.question.question();
                 asked.cluster = profile.toStdString();
                 asked.devices = kRanks;
                 asked.global_batch = kBatch;
                 asked.sequence = kSequence;
                 asked.program = kWorker;
                 to_.question.setQuestion(asked);
                 Q_EMIT said(tr("This machine is measured; batch and sequence are small now, as it can bear. Press Plan (Ctrl+Return)."));
               });
}

// Tokens as they are; of any other file its bytes are the tokens.
void Preparation::useData(const QString& path) {
  if (path.endsWith(QStringLiteral(".bin"))) return to_.run.setData(path);
  const QFileInfo run(to_.run.request().folder);
  QDir().mkpath(run.absolutePath());
  const QString tokens = run.absoluteFilePath() + QStringLiteral(".tokens.bin");
  tools_.start(tr("Making tokens of %1").arg(QFileInfo(path).fileName()), {QStringLiteral("tokenize"), path, QStringLiteral("-o"), tokens},
               [this, tokens](const QString&) { to_.run.setData(tokens); });
}

}  // namespace gui
