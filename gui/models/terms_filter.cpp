#include "gui/models/terms_filter.h"

#include "gui/models/table_item_model.h"

namespace gui {

TermsFilter::TermsFilter(QObject* parent) : QSortFilterProxyModel(parent) { setSortRole(TableItemModel::kSortRole); }

void TermsFilter::setTerms(const QString& text) {
  terms_.clear();
  for (const QString& word : text.toLower().split(' ', Qt::SkipEmptyParts)) {
    const auto colon = word.indexOf(':');
    terms_.push_back(colon < 0 ? Term{{}, word} : Term{word.left(colon), word.mid(colon + 1)});
  }
  invalidateFilter();
}

bool TermsFilter::matches(int row, const Term& term) const {
  for (int column = 0; column < sourceModel()->columnCount(); ++column) {
    const QString header = sourceModel()->headerData(column, Qt::Horizontal, Qt::DisplayRole).toString().toLower();
    if (!header.startsWith(term.header)) continue;
    if (sourceModel()->index(row, column).data().toString().toLower().contains(term.word)) return true;
  }
  return false;
}

bool TermsFilter::filterAcceptsRow(int row, const QModelIndex&) const {
  for (const Term& term : terms_)
    if (!matches(row, term)) return false;
  return true;
}

}  // namespace gui
