// What a range of a timeline adds up to, by name, and how long the slices of a name are. Part of the Timeline and the Trace page.
#pragma once

#include <QWidget>
#include <functional>
#include <memory>

#include "gui/core/slice_statistics.h"
#include "gui/jobs/background_job.h"
#include "gui/models/trace_tables.h"

namespace gui {

class DurationView;
class TablePanel;

struct RangeSource {
  SharedCore core;
  std::shared_ptr<const std::vector<std::string>> names;
  std::shared_ptr<const std::vector<std::uint32_t>> name_of_span;
};

class RangePanel : public QWidget {
  Q_OBJECT
 public:
  RangePanel(const QString& title, Nesting nesting, QWidget* parent = nullptr);
  void addUp(std::function<RangeSource()> source, TimeRange range);  // the source is asked beside the window's thread
  void showOf(std::vector<bool> names, const QString& words);  // where no row is chosen: how long slices of these names are; none: of all
  TablePanel* table() const { return table_; }
  DurationView* durations() const { return durations_; }

 private:
  void drawDurations(int row);  // -1: of all names
  Nesting nesting_;
  BackgroundJob adding_, drawing_;
  TablePanel* table_;
  DurationView* durations_;
  RangeSource source_;
  TimeRange range_;
  std::vector<std::uint32_t> name_of_row_;
  std::vector<bool> names_;  // that are looked for; empty: all
  QString words_;
};

}  // namespace gui
