#include "gui/models/run_tables.h"

#include <QCoreApplication>
#include <QDateTime>

#include "gui/models/cells.h"
#include "gui/models/reason_text.h"

namespace gui {
namespace {

QString phrase(const char* text) { return QCoreApplication::translate("RunTables", text); }

Cell numberCell(double value, int decimals) { return {QStringLiteral("%L1").arg(value, 0, 'f', decimals), value}; }

}  // namespace

Table historyTable(const std::vector<RunRecord>& history) {
  Table table;
  table.headers = {phrase("Run"), phrase("Started"), phrase("Steps"), phrase("Loss"), phrase("Tokens/s"), phrase("Error of the prediction"),
                   phrase("Plan")};
  for (const RunRecord& run : history) {
    const QDateTime started = QDateTime::fromSecsSinceEpoch(run.started);
    table.rows.push_back({{textOf(run.folder), {}},
                          {started.toString(QStringLiteral("yyyy-MM-dd hh:mm")), static_cast<qlonglong>(run.started)},
                          countCell(run.steps),
                          run.steps > 0 ? numberCell(run.loss, 3) : Cell{QStringLiteral("–"), 0},
                          run.steps > 0 ? numberCell(run.tokens_per_second, 0) : Cell{QStringLiteral("–"), 0},
                          run.error ? signedShareCell(*run.error) : Cell{QStringLiteral("–"), 0},
                          {sentenceText(run.plan), {}}});
  }
  return table;
}

}  // namespace gui
