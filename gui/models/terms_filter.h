// Filters and sorts a table: every word that is typed must occur in some column of a row; "schedule:1f1b" looks into that column alone.
// Used by the table panel.
#pragma once

#include <QSortFilterProxyModel>
#include <vector>

namespace gui {

class TermsFilter : public QSortFilterProxyModel {
  Q_OBJECT
 public:
  explicit TermsFilter(QObject* parent = nullptr);
  void setTerms(const QString& text);

 protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

 private:
  struct Term {
    QString header;  // its beginning, lower case; empty: any column
    QString word;
  };
  bool matches(int row, const Term& term) const;
  std::vector<Term> terms_;
};

}  // namespace gui
