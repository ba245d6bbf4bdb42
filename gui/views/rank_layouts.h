// Where ranks stand, as boxes: on the machines (fabric, nodes, devices, with the links between) and on the mesh of the plan (a row a stage,
// data and tensor ranks beside each other). Pure functions of what is shown and of the room for it.
//
//   fabric ========================          stage 0 | 0 1 | 2 3 |      data 0, data 1; tensor within
//            |uplink        |                stage 1 | 4 5 | 6 7 |
//          [node 0  ]    [node 1  ]
//           |port |       |    |
//           #0    #1      #2   #3
#pragma once

#include "gui/core/cluster_load.h"
#include "gui/core/simulated_plan.h"
#include "gui/views/box_view.h"

namespace gui {

struct RankPicture {
  std::vector<double> share;  // by rank, 0 to 1: its color
  std::vector<QString> text;  // by rank: the value
  ClusterLoad load;
  double most_load = 1;  // the darkest link's
  SharedPlan plan;
};
std::vector<Box> machineBoxes(const RankPicture& ranks, const QRectF& area);
std::vector<Box> meshBoxes(const RankPicture& ranks, const QRectF& area);
QString rankTip(const RankPicture& ranks, sim::Rank rank);

}  // namespace gui
