#include "gui/models/cells.h"

#include <QCoreApplication>
#include <cmath>

#include "sim/units/unit_text.h"

namespace gui {

QString textOf(std::string_view utf8) { return QString::fromUtf8(utf8.data(), static_cast<qsizetype>(utf8.size())); }
Cell timeCell(sim::SimTime time) {
  return {textOf(sim::to_text(sim::to_seconds(time))), static_cast<qlonglong>(time.count()), CellUnit::Picoseconds};
}
Cell timeCell(sim::Seconds time) { return {textOf(sim::to_text(time)), time.count(), CellUnit::Seconds}; }
Cell bytesCell(sim::Bytes bytes) { return {textOf(sim::to_text(bytes)), static_cast<qlonglong>(bytes.value()), CellUnit::Bytes}; }
Cell shareCell(double share) { return {textOf(sim::percent(share)), share, CellUnit::Share}; }
Cell signedShareCell(double share) {
  constexpr double kShown = 0.0005;  // below it there is no sign to show
  return {std::abs(share) < kShown ? QStringLiteral("0.0 %") : QString::asprintf("%+.1f %%", 100 * share), share, CellUnit::Share};
}
QString waitText(sim::Seconds time) {
  const auto seconds = static_cast<std::int64_t>(std::ceil(time.count())), minutes = seconds / 60, hours = minutes / 60;
  if (hours > 0) return QString::asprintf("%lld h %02d min", static_cast<long long>(hours), static_cast<int>(minutes % 60));
  if (minutes > 0) return QString::asprintf("%d min %02d s", static_cast<int>(minutes), static_cast<int>(seconds % 60));
  return QString::asprintf("%d s", static_cast<int>(seconds));
}
QString leftText(std::optional<sim::Seconds> left) {
  return left ? QCoreApplication::translate("Cells", ", about %1 left").arg(waitText(*left)) : QString();
}
QString countText(std::int64_t count, const QString& one, const QString& many) { return count == 1 ? one : many.arg(count); }
Cell countCell(std::int64_t count) { return {QString::number(count), static_cast<qlonglong>(count)}; }

}  // namespace gui
