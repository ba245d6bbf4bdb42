// The window in another language: a table of English and its translation (gui/translations), built into the program. No tool and no file is
// needed; one English string has one translation. Used by main and by tests.
#pragma once

#include <QHash>
#include <QTranslator>

namespace gui {

class TableTranslator : public QTranslator {
  Q_OBJECT
 public:
  explicit TableTranslator(QObject* parent = nullptr);  // Simplified Chinese
  QString translate(const char* context, const char* source, const char* disambiguation, int n) const override;
  bool isEmpty() const override { return texts_.isEmpty(); }
  qsizetype size() const { return texts_.size(); }

 private:
  QHash<QByteArray, QString> texts_;
};

bool wantsChinese();              // as chosen, else as the system is set
void chooseChinese(bool wanted);  // from the next start on

}  // namespace gui
