#include "gui/pages/share.h"

#include <fmt/format.h>

#include <QDir>
#include <QFileInfo>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <algorithm>
#include <deque>

#include "gui/core/alive.h"
#include "gui/views/theme.h"
#include "gui/views/view.h"
#include "sim/timeline/memory_snapshot.h"
#include "sim/timeline/trace.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace gui {
namespace {

constexpr int kPngScale = 2;

[[noreturn]] void refuse(const QString& path) {
  throw sim::InputError(path.toStdString(), {{"", "cannot be written", "choose a folder that can be written, with room on its disk"}});
}

constexpr int kTitle = 26;

// As many lines as its entries need at the width of the picture.
int legendHeight(const View& view, const Caption& caption) { return std::max(1, caption.legend->heightForWidth(view.width())); }

QSize sizeOf(const View& view, const Caption& caption) {
  const int title = caption.title.isEmpty() ? 0 : kTitle, legend = caption.legend == nullptr ? 0 : legendHeight(view, caption);
  return {view.width(), view.height() + title + legend};
}

// The title, the picture, its legend: one below the other.
void paintAll(QPainter& painter, View& view, const Caption& caption) {
  const Theme theme = themeOf(view.palette());
  painter.setFont(view.font());
  if (!caption.title.isEmpty()) {
    const QRect above(0, 0, view.width(), kTitle);
    painter.fillRect(above, theme.background);
    painter.setPen(theme.text);
    painter.drawText(above.adjusted(10, 0, -10, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(caption.title, Qt::ElideRight, view.width() - 20));
    painter.translate(0, kTitle);
  }
  painter.save();
  view.paintPicture(painter, view.size());
  painter.restore();
  if (caption.legend == nullptr) return;
  painter.setClipping(false);
  painter.translate(0, view.height());
  caption.legend->paintPicture(painter, {view.width(), legendHeight(view, caption)});
}

void savePng(View& view, const QString& path, const Caption& caption) {
  QImage image(sizeOf(view, caption) * kPngScale, QImage::Format_RGB32);
  image.setDevicePixelRatio(kPngScale);
  {
    QPainter painter(&image);
    paintAll(painter, view, caption);
  }
  if (!image.save(path)) refuse(path);
}

void saveSvg(View& view, const QString& path, const Caption& caption) {
  QSvgGenerator svg;
  svg.setFileName(path);
  svg.setSize(sizeOf(view, caption));
  svg.setViewBox(QRect(QPoint(0, 0), sizeOf(view, caption)));
  svg.setTitle(view.accessibleName());
  QPainter painter;
  if (!painter.begin(&svg)) refuse(path);
  paintAll(painter, view, caption);
}

void savePdf(View& view, const QString& path, const Caption& caption) {
  QPdfWriter pdf(path);
  constexpr int kDotsPerInch = 96;
  pdf.setResolution(kDotsPerInch);
  pdf.setPageSize(QPageSize(QSizeF(sizeOf(view, caption)) / kDotsPerInch, QPageSize::Inch));
  pdf.setPageMargins(QMarginsF());
  pdf.setTitle(view.accessibleName());
  QPainter painter;
  if (!painter.begin(&pdf)) refuse(path);
  paintAll(painter, view, caption);
}

std::vector<sim::LoadSample> loadsOf(const StepPicture& picture) {
  std::vector<sim::LoadSample> samples;
  for (const auto& [device, counter] : picture.counters)
    for (std::size_t at = 0; counter->name == "link load" && at < counter->time.size(); ++at)
      samples.push_back({device, sim::SimTime(counter->time[at]), counter->value[at]});
  return samples;
}

}  // namespace

void savePicture(View& view, const QString& path, const Caption& caption) {
  const QString ending = QFileInfo(path).suffix().toLower();
  if (!QFileInfo(path).absoluteDir().exists()) refuse(path);
  if (ending == QStringLiteral("png")) return savePng(view, path, caption);
  if (ending == QStringLiteral("svg")) return saveSvg(view, path, caption);
  if (ending == QStringLiteral("pdf")) return savePdf(view, path, caption);
  throw sim::InputError(path.toStdString(), {{"", fmt::format("'.{}' is no picture format that can be written", ending.toStdString()),
                                              "end the name in .png, .svg or .pdf"}});
}

void saveTable(const Table& table, const QString& path) { sim::save_text_file(csvOf(table).toStdString(), path.toStdString()); }

void saveTimelines(const std::vector<ComparedSide>& steps, const QString& path, const sim::Told& told) {
  std::deque<sim::Timeline> unfolded;  // of every rank, where these are shown
  std::vector<sim::NamedTimeline> timelines;
  for (const ComparedSide& step : steps)
    if (step.measured)
      timelines.push_back({step.name, step.timeline(), {}});
    else if (step.plan->every_rank)
      timelines.push_back(
          {step.name, unfolded.emplace_back(step.plan->every_rank->devices.unfolded(step.timeline())), loadsOf(step.plan->shown())});
    else
      timelines.push_back({step.name, step.timeline(), loadsOf(step.plan->shown())});
  sim::write_timelines(timelines, path.toStdString(), told);
}

void saveMemory(const SimulatedPlan& plan, const QString& path, const sim::Told& told) {
  sim::write_memory_snapshot(blocksOf(plan), path.toStdString(), told);
}

}  // namespace gui
