#include "gui/models/reason_text.h"

#include <gmock/gmock.h>

#include <QCoreApplication>

#include "gui/views/translation.h"

namespace gui {
namespace {

const planner::Reason kHeads{"divisibility.heads", {{"heads", "25"}, {"tensor", "2"}}};

TEST(ReasonText, InEnglishIsThePlannersSentence) {
  EXPECT_EQ(reasonText(kHeads).toStdString(), planner::to_sentence(kHeads));
  EXPECT_EQ(reasonText(std::vector{planner::Reason{"as_fast", {}}, kHeads}).toStdString(),
            planner::to_sentence(std::vector{planner::Reason{"as_fast", {}}, kHeads}));
  EXPECT_EQ(sentenceText("12 B is not positive"), "12 B is not positive");
}

TEST(ReasonText, InChineseKeepsTheNumbers) {
  TableTranslator chinese;
  QCoreApplication::installTranslator(&chinese);
  const QString reason = reasonText(kHeads), violation = sentenceText("8 attention heads are not divisible by tensor degree 3");
  QCoreApplication::removeTranslator(&chinese);
  for (const QString& text : {reason, violation}) EXPECT_FALSE(text.contains("divisible")) << text.toStdString();
  EXPECT_TRUE(reason.contains("25") && reason.contains('2'));
  EXPECT_TRUE(violation.contains('8') && violation.contains('3')) << violation.toStdString();
  EXPECT_FALSE(violation.contains("heads")) << violation.toStdString();
}

}  // namespace
}  // namespace gui
