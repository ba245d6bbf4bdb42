#include "sim/units/json_reader.h"

#include <gmock/gmock.h>

#include <array>
#include <limits>

namespace sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// What is told when `read` has read from `text`; one line a violation.
template <class Read>
std::string told(const std::string& text, const Read& read) {
  const Json json = parse_json(text, "f");
  const JsonReader reader(json, "f");
  read(reader);
  try {
    reader.finish();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(JsonReader, ReadsEveryType) {
  const Json json = parse_json(R"({"i": -3, "whole": 2e3, "n": 1.5, "b": true, "t": "x", "list": [1, 2], "o": {"i": 7}, "c": "two",
                                   "m": "80 GiB", "r": "450 GB/s", "f": "312 TFLOP/s", "s": "4.5 us", "objects": [{"i": 1}, {"i": 2}]})",
                               "f");
  const JsonReader reader(json, "f");
  constexpr std::array<std::string_view, 2> kNames = {"one", "two"};
  EXPECT_EQ(reader.integer("i", {}, {-10, 10}), -3);
  EXPECT_EQ(reader.integer("whole"), 2000);
  EXPECT_EQ(reader.number("n"), 1.5);
  EXPECT_EQ(reader.number("i"), -3.0);
  EXPECT_TRUE(reader.boolean("b"));
  EXPECT_EQ(reader.text("t"), "x");
  EXPECT_THAT(reader.integers("list"), ElementsAre(1, 2));
  EXPECT_EQ(reader.child("o").integer("i"), 7);
  EXPECT_EQ(reader.choice("c", kNames), 1u);
  EXPECT_EQ(reader.bytes("m"), Bytes(80LL << 30));
  EXPECT_EQ(reader.bytes_per_second("r"), BytesPerSecond(450e9));
  EXPECT_EQ(reader.flops_per_second("f"), FlopsPerSecond(312e12));
  EXPECT_EQ(reader.seconds("s"), Seconds(4.5e-6));
  ASSERT_EQ(reader.children("objects").size(), 2u);
  EXPECT_EQ(reader.children("objects")[1].integer("i"), 2);
  EXPECT_EQ(reader.keys().size(), json.size());
  EXPECT_NO_THROW(reader.finish());
}

TEST(JsonReader, TellsAllViolationsAtOnce) {
  EXPECT_EQ(told(R"({"a": "x", "o": {"b": -1}, "list": [{}, {"c": 1}]})",
                 [](const JsonReader& reader) {
                   reader.integer("a");
                   reader.child("o").integer("b", {}, {1, 100});
                   for (const JsonReader& item : reader.children("list")) item.text("c");
                   reader.boolean("d");
                 }),
            "f: /a: is \"x\", expected a whole number from 0 up; correct it\n"
            "f: /o/b: is -1, expected a whole number from 1 to 100; correct it\n"
            "f: /list/0/c: is missing; add it\n"
            "f: /list/1/c: is 1, expected text; put it in quotes\n"
            "f: /d: is missing; add it");
}

TEST(JsonReader, ANumberNeedsItsUnit) {
  EXPECT_EQ(told(R"({"m": 80})", [](const JsonReader& reader) { reader.bytes("m"); }),
            "f: /m: is 80: a number needs its unit; write it like \"80 GiB\"");
  EXPECT_EQ(told(R"({"s": "4.5"})", [](const JsonReader& reader) { reader.seconds("s"); }),
            "f: /s: is \"4.5\", which is no number with a unit; write it like \"4.5 us\"");
  EXPECT_THAT(told(R"({"m": "-1 B"})", [](const JsonReader& reader) { reader.bytes("m"); }), HasSubstr("negative"));
  EXPECT_THAT(told(R"({"r": "0 B/s"})", [](const JsonReader& reader) { reader.bytes_per_second("r"); }), HasSubstr("a rate of zero"));
  EXPECT_EQ(told(R"({"s": "0 s", "m": "0 B"})", [](const JsonReader& reader) { reader.seconds("s"), reader.bytes("m"); }), "");
  EXPECT_THAT(told(R"({"m": true})", [](const JsonReader& reader) { reader.bytes("m", Bytes(1)); }), HasSubstr("no number with a unit"));
}

TEST(JsonReader, RefusesIntegersOutOfRange) {
  for (const char* value :
       {"9223372036854775808", "1e30", "-1", "1.5", "18446744073709551615", "123456789012345678901234567890", "true", "[1]"})
    EXPECT_THAT(told(std::string("{\"i\": ") + value + "}", [](const JsonReader& reader) { reader.integer("i"); }),
                HasSubstr("expected a whole number from 0 up"))
        << value;
}

TEST(JsonReader, RefusesNumbersThatAreNone) {
  const Json json = {{"n", std::numeric_limits<double>::quiet_NaN()}, {"i", std::numeric_limits<double>::infinity()}};
  const JsonReader reader(json, "f");
  reader.number("n");
  reader.number("i");
  EXPECT_THROW(reader.finish(), InputError);
}

TEST(JsonReader, ChoiceListsWhatIsAccepted) {
  constexpr std::array<std::string_view, 2> kNames = {"one", "two"};
  const auto read = [&](const JsonReader& reader) { reader.choice("c", kNames); };
  EXPECT_EQ(told(R"({"c": "three"})", read), "f: /c: is \"three\", accepted: one, two; choose one of them");
  EXPECT_EQ(told(R"({"c": 1})", read), "f: /c: is 1, accepted: one, two; choose one of them");
  EXPECT_EQ(told("{}", read), "f: /c: is missing, accepted: one, two; add it");
}

TEST(JsonReader, NullIsAsGoodAsMissing) {
  const Json json = parse_json(R"({"a": null})", "f");
  const JsonReader reader(json, "f");
  EXPECT_FALSE(reader.has("a"));
  EXPECT_EQ(reader.integer("a", 5), 5);
  EXPECT_NO_THROW(reader.finish());
  EXPECT_EQ(told(R"({"a": null})", [](const JsonReader& r) { r.integer("a"); }), "f: /a: is null; add it");
}

TEST(JsonReader, AFaultIsToldOnceAndItsContentsNot) {
  EXPECT_EQ(told(R"({"o": 3})",
                 [](const JsonReader& reader) {
                   const JsonReader child = reader.child("o");
                   child.integer("a");
                   child.child("b").text("c");
                   reader.child("o");
                 }),
            "f: /o: is 3, expected an object; write it as { ... }");
  EXPECT_EQ(told("[1]", [](const JsonReader& reader) { reader.integer("a"), reader.text("b"); }),
            "f: is an array, expected an object; write it as { ... }");
  EXPECT_THAT(told(R"({"l": 3})", [](const JsonReader& reader) { reader.children("l"); }), HasSubstr("expected an array"));
  EXPECT_THAT(told(R"({"l": [1, "x"]})", [](const JsonReader& reader) { reader.integers("l"); }), HasSubstr("holds \"x\""));
}

TEST(JsonReader, EscapesPointersAndShortensValues) {
  EXPECT_THAT(told(R"({"a/b~c": 1})", [](const JsonReader& reader) { reader.text("a/b~c"); }), HasSubstr("f: /a~1b~0c: "));
  EXPECT_LT(told("{\"a\": \"" + std::string(10'000, 'x') + "\"}", [](const JsonReader& reader) { reader.integer("a"); }).size(), 200u);
}

TEST(JsonReader, FallbacksStandInForFaults) {
  const Json json = parse_json(R"({"i": "x", "m": 3})", "f");
  const JsonReader reader(json, "f");
  EXPECT_EQ(reader.integer("i", 4), 4);
  EXPECT_EQ(reader.integer("i", {}, {2, 9}), 2);
  EXPECT_EQ(reader.bytes("m", Bytes(7)), Bytes(7));
  EXPECT_THROW(reader.finish(), InputError);
}

TEST(JsonReader, RefusesKeysThatNothingAskedFor) {
  const auto read = [](const JsonReader& reader) {
    reader.integer("tensor", 1);
    reader.has("note");
    reader.child("mesh").integer("data", 1);
    for (const JsonReader& row : reader.children("rows")) row.text("name");
    reader.refuse_unknown();
  };
  EXPECT_EQ(told(R"({"tensor": 2, "note": {"anything": 1}, "mesh": {"data": 1}, "rows": [{"name": "a"}]})", read), "");
  EXPECT_EQ(told(R"({"tensr": 2, "mesh": {"data": 1, "x": 1}, "rows": [{"name": "a"}, {"name": "b", "nam": 1}]})", read),
            "f: /tensr: is no field that is known here; did you mean tensor?\n"
            "f: /mesh/x: is no field that is known here; remove it\n"
            "f: /rows/1/nam: is no field that is known here; did you mean name?");
}

TEST(JsonReader, AnInnerReaderRefusesForItselfAlone) {
  EXPECT_EQ(told(R"({"other": 1, "mesh": {"data": 1, "dta": 1}})",
                 [](const JsonReader& reader) {
                   const JsonReader mesh = reader.child("mesh");
                   mesh.integer("data");
                   mesh.refuse_unknown();
                 }),
            "f: /mesh/dta: is no field that is known here; did you mean data?");
}

}  // namespace
}  // namespace sim
