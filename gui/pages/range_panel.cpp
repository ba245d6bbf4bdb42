#include "gui/pages/range_panel.h"

#include <QHBoxLayout>
#include <QSplitter>

#include "gui/models/cells.h"
#include "gui/pages/table_panel.h"
#include "gui/views/duration_view.h"
#include "sim/units/at.h"

namespace gui {

RangePanel::RangePanel(const QString& title, Nesting nesting, QWidget* parent)
    : QWidget(parent),
      nesting_(nesting),
      adding_(this),
      drawing_(this),
      table_(new TablePanel(title, TablePanel::Filter::Shown, this)),
      durations_(new DurationView(this)) {
  auto* both = new QSplitter(Qt::Horizontal, this);
  both->addWidget(table_);
  both->addWidget(durations_);
  both->setSizes({640, 260});
  both->setStretchFactor(0, 1);
  auto* all = new QHBoxLayout(this);
  all->setContentsMargins(0, 0, 0, 0);
  all->addWidget(both);
  table_->setStretchedColumn(0);
  connect(table_, &TablePanel::rowChosen, this, &RangePanel::drawDurations);
}

void RangePanel::addUp(std::function<RangeSource()> source, TimeRange range) {
  adding_.start([this, source = std::move(source), range, nesting = nesting_](Progress&) -> BackgroundJob::Finish {
    RangeSource read = source();
    const std::vector<SliceStatistics> sums = statisticsOf(*read.core, range, *read.name_of_span);
    const Table table = statisticsTable(sums, *read.names, nesting);
    return [this, read, range, sums, table] {
      source_ = read;
      range_ = range;
      name_of_row_.clear();
      for (const SliceStatistics& one : sums) name_of_row_.push_back(one.name);
      table_->setTable(table);
      drawDurations(-1);
    };
  });
}

void RangePanel::drawDurations(int row) {
  if (!source_.core) return;
  std::vector<bool> names = names_;
  QString of = names.empty() ? tr("all") : words_;
  if (row >= 0) {
    const std::uint32_t name = sim::at(name_of_row_, row);
    names.assign(source_.names->size(), false);
    names[name] = true;
    of = textOf((*source_.names)[name]);
  }
  drawing_.start([this, source = source_, range = range_, names, of](Progress&) -> BackgroundJob::Finish {
    const std::vector<DurationBin> bins = histogramOf(*source.core, range, {*source.name_of_span, names.empty() ? nullptr : &names});
    return [this, bins, of] { durations_->setBins(bins, of); };
  });
}

void RangePanel::showOf(std::vector<bool> names, const QString& words) {
  names_ = std::move(names);
  words_ = words;
  drawDurations(-1);
}

}  // namespace gui
