#include "gui/views/rank_layouts.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "sim/units/unit_text.h"

namespace gui {
namespace {

QString worded(const char* text) { return QCoreApplication::translate("RankLayouts", text); }
QString percentOf(double share) { return QString::fromStdString(sim::percent(share)); }

Box rankBox(const RankPicture& ranks, sim::Rank rank, const QRectF& area) {
  return {.area = area,
          .share = ranks.share[rank.position()],
          .text = ranks.text[rank.position()],
          .tip = rankTip(ranks, rank),
          .rank = rank.value()};
}

// Nodes beside each other, in as many rows as makes the boxes largest.
int nodesInARow(int nodes, const QRectF& area) {
  constexpr double kWiderThanHigh = 1.8;
  int best = 1;
  double most = 0;
  for (int columns = 1; columns <= nodes; ++columns) {
    const double rows = std::ceil(static_cast<double>(nodes) / columns);
    const double size = std::min(area.width() / columns / kWiderThanHigh, area.height() / rows);
    if (size <= most) continue;
    most = size;
    best = columns;
  }
  return best;
}

// Of names as large as `needed`, one each `step`: every how many have room.
int everyWithRoom(double step, double needed) { return static_cast<int>(std::ceil(needed / std::max(step, 1.0))); }

struct NodeRoom {
  QRectF area;  // uplink above, frame below
  sim::NodeIndex node;
};

void addNode(std::vector<Box>& boxes, const RankPicture& ranks, const NodeRoom& room) {
  const sim::Cluster& cluster = ranks.plan->plan.cluster;
  const QRectF& area = room.area;
  const double load = ranks.load.uplink[room.node.position()], wire = std::max(4.0, area.height() * 0.18);
  const QString tip = worded("uplink of node %1: %2 of its capacity").arg(room.node.value()).arg(percentOf(load));
  boxes.push_back({.area = {area.center().x() - 4, area.top(), 8, wire}, .share = load / ranks.most_load, .tip = tip});
  boxes.push_back({.area = {area.center().x() + 10, area.top(), area.width() / 2 - 10, wire},
                   .text = worded("node %1: uplink %2").arg(room.node.value()).arg(percentOf(load)),
                   .framed = false});
  const QRectF frame(area.left(), area.top() + wire, area.width(), area.height() - wire);
  boxes.push_back({.area = frame, .tip = worded("node %1").arg(room.node.value())});
  const int first = room.node.value() * cluster.devices_per_node();
  const int devices = std::min(cluster.devices_per_node(), cluster.devices - first);
  const double step = (frame.width() - 4) / devices, port = frame.height() * 0.25;
  for (int at = 0; at < devices && first + at < static_cast<int>(ranks.share.size()); ++at) {
    const sim::Rank rank(first + at);
    const double left = frame.left() + 2 + at * step, own = ranks.load.port[rank.position()];
    const QString port_tip = worded("port of rank %1: %2 of its capacity").arg(rank.value()).arg(percentOf(own));
    const double line = std::clamp(step / 4, 1.0, 8.0);
    boxes.push_back({.area = {left + step / 2 - line / 2, frame.top(), line, port}, .share = own / ranks.most_load, .tip = port_tip});
    const double gap = step > 8 ? 2 : step > 3 ? 1 : 0;
    boxes.push_back(rankBox(ranks, rank, {left + gap / 2, frame.top() + port, step - gap, frame.height() - port - 2}));
  }
}

}  // namespace

QString rankTip(const RankPicture& ranks, sim::Rank rank) {
  const sim::MeshCoordinate at = ranks.plan->plan.mesh.coordinate(rank);
  return worded("rank %1: stage %2, data %3, tensor %4, node %5: %6")
      .arg(rank.value())
      .arg(at.stage.value())
      .arg(ranks.plan->plan.mesh.data_rank(at))
      .arg(at.tensor)
      .arg(ranks.plan->plan.cluster.node_of(rank).value())
      .arg(ranks.text[rank.position()]);
}

std::vector<Box> machineBoxes(const RankPicture& ranks, const QRectF& area) {
  constexpr double kFabric = 8, kGap = 10;
  const int nodes = ranks.plan->plan.cluster.nodes(), columns = nodesInARow(nodes, area);
  const int rows = (nodes + columns - 1) / columns;
  constexpr double kHighest = 190;
  const double width = area.width() / columns, height = std::min(kHighest, area.height() / rows);
  std::vector<Box> boxes;
  for (int row = 0; row < rows; ++row)
    boxes.push_back({.area = {area.left(), area.top() + row * height, area.width(), kFabric}, .tip = worded("fabric between the nodes")});
  for (int node = 0; node < nodes; ++node) {
    const double left = area.left() + node % columns * width, top = area.top() + node / columns * height + kFabric;
    const double gap = std::min(kGap, width / 6);
    addNode(boxes, ranks, {{left + gap / 2, top, width - gap, height - kFabric - gap}, sim::NodeIndex(node)});
  }
  return boxes;
}

std::vector<Box> meshBoxes(const RankPicture& ranks, const QRectF& area) {
  constexpr double kNames = 64, kLine = 16, kHighest = 56, kWidest = 150;
  const sim::DeviceMesh& mesh = ranks.plan->plan.mesh;
  const double step = std::min(kWidest, (area.width() - kNames) / (mesh.copies() * mesh.tensor));
  const double height = std::min(kHighest, (area.height() - 20) / mesh.pipeline);
  std::vector<Box> boxes;
  const double sample = mesh.context * mesh.tensor * step;
  const double name = std::max(sample, kNames);  // where they are many, every second or third has room
  for (int data = 0; data < mesh.data; data += everyWithRoom(sample, name))
    boxes.push_back({.area = {area.left() + kNames + (data + 0.5) * sample - name / 2, area.top(), name, 18},
                     .text = worded("data %1").arg(data),
                     .framed = false});
  for (int stage = 0; stage < mesh.pipeline; ++stage) {
    const double top = area.top() + 20 + stage * height;
    if (stage % everyWithRoom(height, kLine) == 0)
      boxes.push_back({.area = {area.left(), top + (height - std::max(height, kLine)) / 2, kNames, std::max(height, kLine)},
                       .text = worded("stage %1").arg(stage),
                       .framed = false});
    for (int at = 0; at < mesh.copies() * mesh.tensor; ++at) {
      const bool ends_group = (at + 1) % mesh.tensor == 0;
      const double gap = std::min(ends_group ? 4.0 : 1.0, step / 4);
      const sim::Rank rank(stage * mesh.copies() * mesh.tensor + at);
      boxes.push_back(rankBox(ranks, rank, {area.left() + kNames + at * step, top, step - gap, height - std::min(3.0, height / 4)}));
    }
  }
  return boxes;
}

}  // namespace gui
