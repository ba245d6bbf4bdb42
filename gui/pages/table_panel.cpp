#include "gui/pages/table_panel.h"

#include <QAction>
#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "sim/units/at.h"

namespace gui {
namespace {

constexpr int kWidest = 460;

void arrange(QTableView* view) {
  view->setSelectionBehavior(QAbstractItemView::SelectRows);
  view->setSelectionMode(QAbstractItemView::SingleSelection);
  view->setAlternatingRowColors(true);
  view->setShowGrid(false);
  view->setWordWrap(false);
  view->setSortingEnabled(true);
  view->setTabKeyNavigation(false);  // Tab leads on, arrows walk: nobody is caught in a table
  view->verticalHeader()->hide();
  view->verticalHeader()->setDefaultSectionSize(24);
  view->horizontalHeader()->setHighlightSections(false);
  view->horizontalHeader()->setResizeContentsPrecision(50);
  view->setFrameShape(QFrame::NoFrame);
}

}  // namespace

TablePanel::TablePanel(const QString& title, Filter filter, QWidget* parent)
    : QWidget(parent),
      model_(new TableItemModel(this)),
      view_(new QTableView(this)),
      filter_(new QLineEdit(this)),
      count_(new QLabel(this)) {
  view_->setModel(model_);
  view_->setAccessibleName(title);
  arrange(view_);
  view_->viewport()->installEventFilter(this);
  view_->setContextMenuPolicy(Qt::ActionsContextMenu);
  auto* copy = new QAction(tr("Copy the row"), view_);
  connect(copy, &QAction::triggered, this, [this] { copyRow(); });
  auto* all = new QAction(tr("Copy the table"), view_);
  connect(all, &QAction::triggered, this, [this] { QGuiApplication::clipboard()->setText(csvOf(visibleTable())); });
  view_->addActions({copy, all});
  filter_->setPlaceholderText(tr("Filter"));
  filter_->setToolTip(tr("Words that a row must hold, or column:word"));
  filter_->setAccessibleName(tr("Filter: %1").arg(title));
  filter_->setClearButtonEnabled(true);
  filter_->setMinimumWidth(64);
  filter_->setMaximumWidth(280);
  filter_->setVisible(filter == Filter::Shown);
  auto* name = new QLabel(QStringLiteral("<b>%1</b>").arg(title), this);
  auto* head = new QHBoxLayout;
  head->setContentsMargins(10, 6, 10, 4);
  head->addWidget(name);
  head->addSpacing(8);
  count_->setEnabled(false);  // faint
  count_->setVisible(filter == Filter::Shown);
  head->addWidget(count_, 1);
  head->addWidget(filter_, 1);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(head);
  column->addWidget(view_, 1);
  connect(filter_, &QLineEdit::textChanged, this, [this](const QString& text) {
    filtering_ = true;
    model_->setFilter(text);
  });
  connect(model_, &TableItemModel::arrangementChanged, this, [this] {
    updateCount();
    if (std::exchange(filtering_, false)) Q_EMIT filterChanged();
  });
  connect(view_->horizontalHeader(), &QHeaderView::sortIndicatorChanged, this, [this](int sorted) {
    const int wide = sorted < 0 || sorted == stretched_ ? 0 : std::min(view_->horizontalHeader()->sectionSizeHint(sorted), kWidest);
    if (sorted >= 0 && wide > view_->columnWidth(sorted)) view_->setColumnWidth(sorted, wide);
  });
  connect(view_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, [this](const QModelIndex& current) {
    if (current.isValid()) Q_EMIT rowChosen(model_->positionOf(current.row()));
  });
  connect(view_, &QTableView::activated, this, [this](const QModelIndex& index) { Q_EMIT rowOpened(model_->positionOf(index.row())); });
}

void TablePanel::setTable(Table table) {
  view_->sortByColumn(-1, Qt::AscendingOrder);
  model_->setTable(std::move(table));
  arrangeColumns();
  updateCount();
}

void TablePanel::setTableInPlace(Table table) {
  const int position = chosen(), column = view_->horizontalHeader()->sortIndicatorSection();
  const Qt::SortOrder order = view_->horizontalHeader()->sortIndicatorOrder();
  setTable(std::move(table));
  view_->sortByColumn(column, order);
  const QSignalBlocker quiet(this);
  choose(position);
}

void TablePanel::updateCount() {
  const int all = static_cast<int>(table().rows.size()), shown = model_->rowCount();
  count_->setText(all == 0 ? QString() : shown == all ? QStringLiteral("%L1").arg(all) : tr("%L1 of %L2").arg(shown).arg(all));
}

Table TablePanel::visibleTable() const {
  Table visible{table().headers, {}, {}};
  for (const int position : model_->positions()) visible.rows.push_back(sim::at(table().rows, position));
  return visible;
}

std::vector<bool> TablePanel::visibleRows() const {
  std::vector<bool> visible(table().rows.size());
  for (const int position : model_->positions()) sim::at(visible, position) = true;
  return visible;
}

void TablePanel::choose(int position) {
  if (position < 0) {
    view_->clearSelection();
    return view_->setCurrentIndex({});
  }
  if (const int row = model_->rowOf(position); row >= 0) view_->setCurrentIndex(model_->index(row, 0));
}

int TablePanel::chosen() const {
  const QModelIndex current = view_->currentIndex();
  return current.isValid() ? model_->positionOf(current.row()) : -1;
}

void TablePanel::copyRow() const {
  const int position = chosen();
  if (position < 0) return;
  QStringList cells;
  for (const Cell& cell : sim::at(table().rows, position)) cells << cell.text;
  QGuiApplication::clipboard()->setText(cells.join('\t'));
}

void TablePanel::setFilter(const QString& terms) { filter_->setText(terms); }

// A column that is sorted by becomes as wide as its arrow needs; the others do not keep that room.
void TablePanel::arrangeColumns() {
  view_->horizontalHeader()->setSortIndicatorShown(false);
  const int columns = model_->columnCount();
  for (int column = 0; column < columns; ++column)  // the table before may have stretched another
    view_->horizontalHeader()->setSectionResizeMode(column, QHeaderView::Interactive);
  view_->resizeColumnsToContents();
  view_->horizontalHeader()->setSortIndicatorShown(true);
  content_ = stretched_ >= 0 && stretched_ < columns ? view_->columnWidth(stretched_) : 0;
  for (int column = 0; column < columns; ++column) view_->setColumnWidth(column, std::min(view_->columnWidth(column), kWidest));
  fitStretched();
}

bool TablePanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) fitStretched();
  return QWidget::eventFilter(watched, event);
}

// It shrinks before the table scrolls; where the table scrolls all the same, it shows what it holds.
void TablePanel::fitStretched() {
  constexpr int kLeastWidth = 120;
  QHeaderView* header = view_->horizontalHeader();
  if (stretched_ < 0 || stretched_ >= header->count()) return;
  const int least = std::max(kLeastWidth, header->sectionSizeHint(stretched_)), room = view_->viewport()->width();
  const bool has_room = room - header->length() + header->sectionSize(stretched_) >= least;
  header->setSectionResizeMode(stretched_, has_room ? QHeaderView::Stretch : QHeaderView::Interactive);
  if (!has_room) header->resizeSection(stretched_, std::max(least, std::min(content_, room / 2)));
}

}  // namespace gui
