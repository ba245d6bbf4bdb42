#include "gui/pages/cluster_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSplitter>
#include <algorithm>

#include "gui/core/rank_metrics.h"
#include "gui/models/cells.h"
#include "gui/views/rank_layouts.h"
#include "sim/units/at.h"

namespace gui {
namespace {

constexpr int kMostRanks = 32768;  // a box of a pixel or two is no map any more, and costs as much

struct Scale {
  double least = 0, most = 0;
  double share(double value) const { return most > least ? (value - least) / (most - least) : 0.5; }
};

Scale scaleOf(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

double mostOf(const ClusterLoad& load) {
  double most = 1e-9;
  for (const std::vector<double>* loads : {&load.port, &load.uplink})
    for (const double value : *loads) most = std::max(most, value);
  return most;
}

}  // namespace

ClusterPage::ClusterPage(QWidget* parent)
    : QWidget(parent), machines_(new BoxView(this)), mesh_(new BoxView(this)), metrics_(new QComboBox(this)), rank_(new QLabel(this)) {
  for (const RankMetric& metric : allRankMetrics()) metrics_->addItem(tr(std::string(metric.name).c_str()));
  metrics_->setCurrentIndex(1);
  build();
  connect(metrics_, &QComboBox::currentIndexChanged, this, &ClusterPage::refresh);
  for (BoxView* view : {machines_, mesh_}) {
    connect(view, &BoxView::rankChosen, this, &ClusterPage::choose);
    connect(view, &BoxView::rankOpened, this, &ClusterPage::rankOpened);
  }
}

void ClusterPage::build() {
  machines_->setAccessibleName(tr("Machines and links"));
  mesh_->setAccessibleName(tr("Ranks on the mesh"));
  auto* label = new QLabel(tr("&Color by"), this);
  label->setBuddy(metrics_);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(10, 6, 10, 6);
  head->setSpacing(8);
  head->addWidget(label);
  head->addWidget(metrics_);
  head->addSpacing(16);
  rank_->setMinimumWidth(1);
  rank_->setWordWrap(true);
  head->addWidget(rank_, 1);
  auto* body = new QSplitter(Qt::Vertical, this);
  body->addWidget(machines_);
  body->addWidget(mesh_);
  body->setSizes({420, 380});
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(body, 1);
}

void ClusterPage::setPlan(const SharedPlan& plan) {
  plan_ = plan;
  machines_->choose(-1);
  mesh_->choose(-1);
  refresh();
}

void ClusterPage::refresh() {
  if (!plan_) return;
  if (plan_->plan.mesh.ranks() > kMostRanks) return showNoMap();
  const RankMetric& metric = sim::at(allRankMetrics(), metrics_->currentIndex());
  RankPicture picture{.share = {}, .text = {}, .load = plan_->load, .plan = plan_};
  picture.most_load = mostOf(picture.load);
  const std::vector<double> values = valuesOf(metric, *plan_, picture.load);
  const Scale scale = scaleOf(values);
  for (const double value : values) {
    picture.share.push_back(scale.share(value));
    picture.text.push_back(textOf(metric.text(value)));
  }
  const QString name = metrics_->currentText(), least = textOf(metric.text(scale.least)), most = textOf(metric.text(scale.most));
  const QString links = tr("Machines. Links: darkest at %1 of their capacity").arg(shareCell(picture.most_load).text);
  machines_->setPicture({[picture](const QRectF& area) { return machineBoxes(picture, area); }, links, name + ' ' + least, most});
  mesh_->setPicture(
      {[picture](const QRectF& area) { return meshBoxes(picture, area); }, tr("Mesh: a row a stage"), name + ' ' + least, most});
  rank_->setText(tr("Click a rank; double click or Enter shows its timeline"));
  rank_->setToolTip(rank_->text());  // all of it, on a small screen
}

void ClusterPage::showNoMap() {
  for (BoxView* view : {machines_, mesh_}) {
    view->setEmptyText(
        tr("%L1 ranks are more than can be told apart here (%L2); the Timeline and Memory pages show each group of equal ranks")
            .arg(plan_->plan.mesh.ranks())
            .arg(kMostRanks));
    view->setPicture({});
  }
  rank_->setText({});
}

void ClusterPage::choose(int rank) {
  machines_->choose(rank);
  mesh_->choose(rank);
  if (!plan_ || rank < 0) return;
  const RankMetric& metric = sim::at(allRankMetrics(), metrics_->currentIndex());
  const sim::MeshCoordinate at = plan_->plan.mesh.coordinate(sim::Rank(rank));
  rank_->setText(tr("<b>rank %1</b>: stage %2, data %3, tensor %4: %5 (Enter: timeline)")
                     .arg(rank)
                     .arg(at.stage.value())
                     .arg(plan_->plan.mesh.data_rank(at))
                     .arg(at.tensor)
                     .arg(textOf(metric.text(metric.value(*plan_, plan_->load, sim::Rank(rank))))));
}

}  // namespace gui
