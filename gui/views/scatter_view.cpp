#include "gui/views/scatter_view.h"

#include <QAction>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

constexpr double kMebi = 1 << 20, kGibi = 1 << 30;

// By objective.
constexpr const char* kAcross[] = {
    QT_TRANSLATE_NOOP("gui::ScatterView", "Step time"), QT_TRANSLATE_NOOP("gui::ScatterView", "Device time of a step"),
    QT_TRANSLATE_NOOP("gui::ScatterView", "Energy of a step"), QT_TRANSLATE_NOOP("gui::ScatterView", "Time to train")};

QString gibLabel(double gib) { return QStringLiteral("%1 GiB").arg(gib, 0, 'g', 4); }
QString mibLabel(double mib) { return QStringLiteral("%1 MiB").arg(mib, 0, 'g', 4); }

}  // namespace

ScatterView::ScatterView(QWidget* parent) : View(parent) { addOwnActions(); }

// What its keys do, for the context menu.
void ScatterView::addOwnActions() {
  const auto add = [this](const QString& text, Qt::Key key, const auto& then) {
    auto* action = new QAction(text, this);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetShortcut);
    connect(action, &QAction::triggered, this, then);
    addAction(action);
    return action;
  };
  add(tr("Zoom in"), Qt::Key_Plus, [this] { zoom(0.7, chart_.plot.center()); });
  add(tr("Zoom out"), Qt::Key_Minus, [this] { zoom(1 / 0.7, chart_.plot.center()); });
  add(tr("All plans"), Qt::Key_0, [this] { fit(); });
  add(tr("Logarithmic axes"), Qt::Key_L, [this] { setLogarithmic(!logarithmic_); });
  setContextMenuPolicy(Qt::ActionsContextMenu);
}

void ScatterView::setLogarithmic(bool logarithmic) {
  logarithmic_ = logarithmic;
  fit();
}

void ScatterView::fit() {
  zoom_.reset();
  update();
}

void ScatterView::zoom(double factor, const QPointF& around) {
  if (points_.empty() || chart_.plot.isEmpty()) return;
  const Axes now = axes();
  const auto part = [factor](Extent extent, double share) {
    const double fixed = extent.least + share * extent.length();
    return Extent{fixed - factor * share * extent.length(), fixed + factor * (1 - share) * extent.length()};
  };
  const QPointF share((around.x() - chart_.plot.left()) / chart_.plot.width(), (chart_.plot.bottom() - around.y()) / chart_.plot.height());
  const Zoom wanted{part(now.x.extent, share.x()), part(now.y.extent, share.y())};
  const Axes whole = wholeAxes();
  const bool shows_all = wanted.x.length() >= whole.x.extent.length() && wanted.y.length() >= whole.y.extent.length();
  zoom_ = shows_all ? std::nullopt : std::optional(wanted);
  update();
}

QPointF ScatterView::scaled(const QPointF& value) const {
  constexpr double kLeast = 1e-12;
  return logarithmic_ ? QPointF(std::log10(std::max(kLeast, value.x())), std::log10(std::max(kLeast, value.y()))) : value;
}

QString ScatterView::measureLabel(double measure) const {
  constexpr double kNothing = 1e-12;  // what is left where ticks meet zero
  return std::abs(measure) < kNothing ? QStringLiteral("0") : QString::fromStdString(planner::measure_text(objective_, measure));
}

void ScatterView::setCandidates(const std::vector<Candidate>& candidates, sim::Bytes limit, planner::Objective objective) {
  objective_ = objective;
  std::vector<ScatterPoint> points;
  for (const Candidate& candidate : candidates)
    points.push_back({candidate.plan.measure, candidate.plan.result.peak_memory, candidate.on_front});
  setPoints(points, limit);
}

void ScatterView::setPoints(const std::vector<ScatterPoint>& points, sim::Bytes limit) {
  points_.clear();
  sim::Bytes most{};
  for (const ScatterPoint& point : points) most = std::max(most, point.memory);
  unit_ = most < sim::Bytes(static_cast<std::int64_t>(kGibi)) ? kMebi : kGibi;
  limit_ = static_cast<double>(limit.value()) / unit_;
  for (const ScatterPoint& point : points)
    points_.push_back({{point.measure, static_cast<double>(point.memory.value()) / unit_},
                       point.on_front,
                       true,
                       point.interval,
                       {point.memory_interval.least / unit_, point.memory_interval.most / unit_}});
  chosen_ = hovered_ = -1;
  fit();
}

void ScatterView::setVisible(const std::vector<bool>& visible) {
  for (std::size_t at = 0; at < points_.size(); ++at) points_[at].shown = at < visible.size() && visible[at];
  update();
}

void ScatterView::choose(int position) {
  chosen_ = position < static_cast<int>(points_.size()) ? position : -1;
  update();
  tellCurrent();
}

QString ScatterView::current() const {
  if (chosen_ < 0) return {};
  const QPointF value = sim::at(points_, chosen_).value;
  return tr("%1, %2").arg(measureLabel(value.x()), unit_ == kMebi ? mibLabel(value.y()) : gibLabel(value.y()));
}

Axes ScatterView::axes() const {
  Axes all = wholeAxes();
  if (zoom_) {
    all.x.extent = zoom_->x;
    all.y.extent = zoom_->y;
  }
  return logarithmic_ ? Axes{logarithmic(all.x), logarithmic(all.y)} : all;
}

Axes ScatterView::wholeAxes() const {
  Extent x{1e300, -1e300}, y{1e300, -1e300};
  for (const Point& point : points_) {
    const Extent reach = point.on_front && point.interval.length() > 0 ? point.interval : Extent{point.value.x(), point.value.x()};
    x = {std::min({x.least, reach.least, point.value.x()}), std::max({x.most, reach.most, point.value.x()})};
    y = {std::min(y.least, point.value.y()), std::max(y.most, point.value.y())};
  }
  if (points_.empty()) x = y = {0, 1};
  if (limit_ > 0 && limit_ < 1.6 * y.most) y.most = std::max(y.most, limit_);
  if (logarithmic_) {
    constexpr double kRoom = 0.04;  // a tenth more
    const QPointF least = scaled({x.least, y.least}), most = scaled({x.most, y.most});
    x = {least.x() - kRoom, most.x() + kRoom};
    y = {least.y() - kRoom, most.y() + kRoom};
  } else {
    x = padded(x);
    y = padded(y);
  }
  return {{tr(sim::at(kAcross, objective_)), x, [this](double measure) { return measureLabel(measure); }},
          {tr("Peak memory"), y, unit_ == kMebi ? mibLabel : gibLabel}};
}

QPointF ScatterView::pointOf(int position) const { return place(sim::at(points_, position).value); }

void ScatterView::paintFront(QPainter& painter, const ChartArea& chart, const Theme& theme) const {
  std::vector<QPointF> front;
  for (const Point& point : points_)
    if (point.on_front) front.push_back(chart.at(scaled(point.value)));
  std::sort(front.begin(), front.end(), [](const QPointF& a, const QPointF& b) { return a.x() < b.x(); });
  painter.setPen(QPen(theme.accent, 1.5));
  for (std::size_t at = 1; at < front.size(); ++at) {  // a step: nothing feasible lies below it
    const QPointF corner(front[at].x(), front[at - 1].y());
    painter.drawLine(front[at - 1], corner);
    painter.drawLine(corner, front[at]);
  }
}

// Of the chosen point: where its step time and its memory lie in four cases of five.
void ScatterView::paintInterval(QPainter& painter, const ChartArea& chart, const Theme& theme) const {
  if (chosen_ < 0 || sim::at(points_, chosen_).interval.length() <= 0) return;
  constexpr double kFoot = 5;
  const Point& point = sim::at(points_, chosen_);
  const QPointF from = chart.at(scaled({point.interval.least, point.value.y()})),
                to = chart.at(scaled({point.interval.most, point.value.y()}));
  painter.setPen(QPen(theme.text, 1.5));
  painter.drawLine(from, to);
  for (const QPointF& end : {from, to}) painter.drawLine(end - QPointF(0, kFoot), end + QPointF(0, kFoot));
  if (point.memory_interval.length() <= 0) return;
  const QPointF low = chart.at(scaled({point.value.x(), point.memory_interval.least})),
                high = chart.at(scaled({point.value.x(), point.memory_interval.most}));
  painter.drawLine(low, high);
  for (const QPointF& end : {low, high}) painter.drawLine(end - QPointF(kFoot, 0), end + QPointF(kFoot, 0));
}

void ScatterView::paintPoints(QPainter& painter, const ChartArea& chart, const Theme& theme) const {
  for (std::size_t at = 0; at < points_.size(); ++at) {
    const Point& point = points_[at];
    const bool special = static_cast<int>(at) == chosen_ || static_cast<int>(at) == hovered_;
    if (!point.shown && !special) continue;
    QColor fill = point.on_front ? theme.accent : theme.faint;
    fill.setAlpha(point.on_front ? 255 : 120);
    painter.setPen(special ? QPen(theme.text, 2) : QPen(theme.background, 1));
    painter.setBrush(static_cast<int>(at) == chosen_ ? QColor(0xee, 0x66, 0x77) : fill);
    const double radius = special ? 7 : point.on_front ? 5 : 4;
    painter.drawEllipse(chart.at(scaled(point.value)), radius, radius);
  }
}

void ScatterView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  if (points_.empty()) {
    painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
    painter.setPen(theme.faint);
    painter.drawText(QRect(QPoint(0, 0), size), Qt::AlignCenter | Qt::TextWordWrap, tr("Plans appear here: step time against memory"));
    return;
  }
  const ChartArea chart = paintAxes(painter, QRectF(QPointF(0, 0), size), axes(), theme);
  chart_ = chart;
  painter.setRenderHint(QPainter::Antialiasing);
  const double limit = chart.at(scaled({1, limit_})).y();
  if (limit > chart.plot.top() && limit < chart.plot.bottom()) {
    painter.setPen(QPen(theme.warning, 1.5, Qt::DashLine));
    painter.drawLine(QPointF(chart.plot.left(), limit), QPointF(chart.plot.right(), limit));
    painter.drawText(QRectF(chart.plot.left(), limit - 19, chart.plot.width() - 4, 18), Qt::AlignRight, tr("memory limit"));
  }
  painter.setClipRect(chart.plot.adjusted(-8, -8, 8, 8));
  paintFront(painter, chart, theme);
  paintInterval(painter, chart, theme);
  paintPoints(painter, chart, theme);
  painter.setClipping(false);
  painter.setRenderHint(QPainter::Antialiasing, false);
  const double behind_title = 24 + painter.fontMetrics().horizontalAdvance(axes().y.title),
               left = std::max(behind_title, chart.plot.right() - 240);
  std::vector<LegendEntry> entries = {{tr("Pareto front"), theme.accent}, {tr("other plans"), theme.faint}};
  if (legendLines(QFontMetricsF(painter.font()), size.width() - left, entries) > 1) entries.pop_back();
  paintLegend(painter, QRectF(left, 6, size.width() - left, 20), entries, theme);
}

int ScatterView::nearest(const QPointF& pixel) const {
  int best = -1;
  double least = 14;
  for (std::size_t at = 0; at < points_.size(); ++at) {
    const QPointF away = place(points_[at].value) - pixel;
    const double distance = std::hypot(away.x(), away.y());
    if (points_[at].shown && distance < least) {
      least = distance;
      best = static_cast<int>(at);
    }
  }
  return best;
}

void ScatterView::mousePressEvent(QMouseEvent* event) {
  const int position = nearest(event->position());
  if (position < 0) return;
  choose(position);
  Q_EMIT pointChosen(position);
}

void ScatterView::mouseMoveEvent(QMouseEvent* event) {
  const int position = nearest(event->position());
  if (position == hovered_) return;
  hovered_ = position;
  if (position >= 0 && tip_of_) QToolTip::showText(event->globalPosition().toPoint(), tip_of_(position), this);
  update();
}

void ScatterView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (nearest(event->position()) < 0) fit();
}

void ScatterView::wheelEvent(QWheelEvent* event) {
  constexpr double kNotch = 120;
  zoom(std::pow(0.8, event->angleDelta().y() / kNotch), event->position());
  event->accept();
}

void ScatterView::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Right || event->key() == Qt::Key_Down ? 1
                   : event->key() == Qt::Key_Left || event->key() == Qt::Key_Up  ? -1
                                                                                 : 0;
  if (step == 0 || points_.empty()) return View::keyPressEvent(event);
  choose(std::clamp(chosen_ + step, 0, static_cast<int>(points_.size()) - 1));
  Q_EMIT pointChosen(chosen_);
}

}  // namespace gui
