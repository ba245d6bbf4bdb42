// Where a picture paints its texts: recorded by a device that draws nothing. Used to find texts that leave their picture or lie on each other.
#pragma once

#include <QtWidgets>

#include "gui/views/view.h"

namespace gui::test {

struct PaintedText {
  QString text;
  QRectF place;
};

class TextRecorder : public QPaintEngine {
 public:
  TextRecorder() : QPaintEngine(QPaintEngine::AllFeatures) {}
  bool begin(QPaintDevice*) override { return true; }
  bool end() override { return true; }
  Type type() const override { return QPaintEngine::User; }
  void updateState(const QPaintEngineState& now) override {
    if (now.state() & QPaintEngine::DirtyTransform) transform_ = now.transform();
  }
  void drawTextItem(const QPointF& point, const QTextItem& item) override {
    const QRectF place(point.x(), point.y() - item.ascent(), item.width(), item.ascent() + item.descent());
    if (!item.text().trimmed().isEmpty()) found.push_back({item.text(), transform_.mapRect(place)});
  }
  void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
  void drawImage(const QRectF&, const QImage&, const QRectF&, Qt::ImageConversionFlags) override {}
  void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
  void drawPath(const QPainterPath&) override {}
  using QPaintEngine::drawPolygon;
  std::vector<PaintedText> found;

 private:
  QTransform transform_;
};

class TextDevice : public QPaintDevice {
 public:
  explicit TextDevice(QSize size) : size_(size) {}
  QPaintEngine* paintEngine() const override { return &recorder_; }
  const std::vector<PaintedText>& found() const { return recorder_.found; }

 protected:
  int metric(PaintDeviceMetric metric) const override {
    constexpr int kDotsPerInch = 96;
    switch (metric) {
      case PdmWidth: return size_.width();
      case PdmHeight: return size_.height();
      case PdmDpiX:
      case PdmDpiY:
      case PdmPhysicalDpiX:
      case PdmPhysicalDpiY: return kDotsPerInch;
      case PdmDevicePixelRatioScaled: return static_cast<int>(devicePixelRatioFScale());
      case PdmDepth: return 32;
      default: return 1;
    }
  }

 private:
  QSize size_;
  mutable TextRecorder recorder_;
};

// As it stands on the screen: texts beyond its edges, and those that cover a part of another.
inline QStringList misplacedIn(View& view) {
  constexpr double kSlack = 2, kCovered = 3;  // pixels
  TextDevice device(view.size());
  {
    QPainter painter(&device);
    painter.setFont(view.font());
    view.paintPicture(painter, view.size());
  }
  const QRectF all(QPointF(0, 0), QSizeF(view.size()));
  QStringList misplaced;
  const std::vector<PaintedText>& texts = device.found();
  for (std::size_t at = 0; at < texts.size(); ++at) {
    const QRectF& place = texts[at].place;
    if (place.left() < all.left() - kSlack || place.right() > all.right() + kSlack) misplaced << texts[at].text + " leaves the picture";
    for (std::size_t other = 0; other < at; ++other) {
      const QRectF shared = place.intersected(texts[other].place);
      if (shared.width() > kCovered && shared.height() > kCovered) misplaced << texts[at].text + " covers " + texts[other].text;
    }
  }
  return misplaced;
}

}  // namespace gui::test
