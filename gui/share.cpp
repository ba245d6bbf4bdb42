#include "gui/share.h"

#include <fmt/format.h>

#include <QDir>
#include <QFileInfo>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgGenerator>
#include <deque>

#include "gui/views/view.h"
#include "sim/cost/planned_blocks.h"
#include "sim/timeline/dependencies.h"
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

void savePng(View& view, const QString& path) {
  QImage image(view.size() * kPngScale, QImage::Format_RGB32);
  image.setDevicePixelRatio(kPngScale);
  {
    QPainter painter(&image);
    painter.setFont(view.font());
    view.paintPicture(painter, view.size());
  }
  if (!image.save(path)) refuse(path);
}

void saveSvg(View& view, const QString& path) {
  QSvgGenerator svg;
  svg.setFileName(path);
  svg.setSize(view.size());
  svg.setViewBox(QRect(QPoint(0, 0), view.size()));
  svg.setTitle(view.accessibleName());
  QPainter painter;
  if (!painter.begin(&svg)) refuse(path);
  painter.setFont(view.font());
  view.paintPicture(painter, view.size());
}

void savePdf(View& view, const QString& path) {
  QPdfWriter pdf(path);
  constexpr int kDotsPerInch = 96;
  pdf.setResolution(kDotsPerInch);
  pdf.setPageSize(QPageSize(QSizeF(view.size()) / kDotsPerInch, QPageSize::Inch));
  pdf.setPageMargins(QMarginsF());
  pdf.setTitle(view.accessibleName());
  QPainter painter;
  if (!painter.begin(&pdf)) refuse(path);
  painter.setFont(view.font());
  view.paintPicture(painter, view.size());
}

std::vector<sim::LoadSample> loadsOf(const StepPicture& picture) {
  std::vector<sim::LoadSample> samples;
  for (const auto& [device, counter] : picture.counters)
    for (std::size_t at = 0; counter->name == "link load" && at < counter->time.size(); ++at)
      samples.push_back({device, sim::SimTime(counter->time[at]), counter->value[at]});
  return samples;
}

}  // namespace

void savePicture(View& view, const QString& path) {
  const QString ending = QFileInfo(path).suffix().toLower();
  if (!QFileInfo(path).absoluteDir().exists()) refuse(path);
  if (ending == QStringLiteral("png")) return savePng(view, path);
  if (ending == QStringLiteral("svg")) return saveSvg(view, path);
  if (ending == QStringLiteral("pdf")) return savePdf(view, path);
  throw sim::InputError(path.toStdString(), {{"", fmt::format("'.{}' is no picture format that can be written", ending.toStdString()),
                                              "end the name in .png, .svg or .pdf"}});
}

void saveTable(const Table& table, const QString& path) { sim::save_text_file(csvOf(table).toStdString(), path.toStdString()); }

void saveTimelines(const std::vector<ComparedSide>& steps, const QString& path) {
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
  sim::write_timelines(timelines, path.toStdString());
}

void saveMemory(const SimulatedPlan& plan, const QString& path) {
  const sim::Dependencies explained = sim::dependencies_of(plan.graph, plan.result.timeline, sim::stream_order(plan.plan));
  sim::write_memory_snapshot(sim::planned_blocks({plan.model, plan.plan, plan.graph, plan.result.timeline, explained}), path.toStdString());
}

}  // namespace gui
