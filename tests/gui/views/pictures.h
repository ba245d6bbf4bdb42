// What tests ask of pictures.
#pragma once

#include <QImage>

namespace gui::test {

inline qint64 pixelsOf(const QImage& image, const QColor& color) {
  qint64 count = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y).rgb() == color.rgb();
  return count;
}

}  // namespace gui::test
