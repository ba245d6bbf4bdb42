// The colors of the timeline with their names, on as many lines as they need. Used above every timeline.
#pragma once

#include <vector>

#include "gui/core/work_kind.h"
#include "gui/views/chart_axes.h"
#include "gui/views/view.h"

namespace gui {

class LegendView : public View {
  Q_OBJECT
 public:
  explicit LegendView(QWidget* parent = nullptr);
  void setKinds(std::vector<WorkKind> kinds);         // else those of a plan
  void setEntries(std::vector<LegendEntry> entries);  // of other colors than those of kinds
  int heightForWidth(int width) const override;
  void paintPicture(QPainter& painter, const QSize& size) override;

 protected:
  void resizeEvent(QResizeEvent*) override { fitHeight(); }
  void showEvent(QShowEvent*) override { fitHeight(); }

 private:
  void fitHeight();
  std::vector<LegendEntry> entries() const;
  std::vector<WorkKind> kinds_;
  std::vector<LegendEntry> own_;  // empty: those of the kinds
};

}  // namespace gui
