// What stands on a slice: layer and operation first, shortened to the room there is.
#pragma once

#include <QFontMetrics>
#include <QString>
#include <array>

#include "sim/task_graph/task.h"

namespace gui {

QString sliceName(const sim::TaskKey& key);  // "L12 MLP fwd, mb 3"; "all-reduce data"

// Shortens to a width: whole words while the first fits, else letters and "…"; empty where not even three letters fit.
class TextFitter {
 public:
  explicit TextFitter(const QFontMetrics& metrics) : metrics_(metrics) { known_.fill(-1); }
  QString fitted(const QString& text, double width);
  double widthOf(QStringView text);

 private:
  QFontMetrics metrics_;
  std::array<int, 256> known_{};  // widths by letter: a frame asks for thousands of words
};

}  // namespace gui
