#include <gmock/gmock.h>

#include "sim/recipe/settings.h"
#include "sim/recipe/yaml_form.h"

namespace sim {
namespace {

TEST(YamlForm, WhatIsWrittenIsReadAgain) {
  const RecipeSettings settings = {
      {"mixed_precision", "no"}, {"fsdp_config.fsdp_version", "2"}, {"fsdp_config.name", "it's"}, {"last", "false"}};
  const std::string text = yaml_text({"title", {"a: note"}}, settings);
  EXPECT_THAT(text, ::testing::HasSubstr("mixed_precision: 'no'"));  // plain, it would be false
  const RecipeSettings now = read_yaml(text, "x.yaml");
  ASSERT_EQ(now.size(), settings.size());
  for (std::size_t at = 0; at < now.size(); ++at) EXPECT_EQ(now[at].key + now[at].value, settings[at].key + settings[at].value);
}

TEST(YamlForm, RefusesInWords) {
  for (const char* text : {"- a\n- b\n", "a: [1, 2\n", "a: &x {b: *x}\n", "? {a: b}\n: c\n", "just text"})
    EXPECT_THROW(read_yaml(text, "x.yaml"), InputError) << text;
  std::string deep;
  for (int level = 0; level < 40; ++level) deep += std::string(static_cast<std::size_t>(level), ' ') + "a:\n";
  EXPECT_THROW(read_yaml(deep + std::string(40, ' ') + "b: 1\n", "x.yaml"), InputError);
}

TEST(YamlForm, ANameThatStandsTwiceIsRefused) {
  for (const char* text : {"a: 1\nb: 2\na: 3\n", "s:\n  a: 1\ns:\n  b: 2\n", "l: [{a: 1, a: 2}]\n"}) {
    EXPECT_THROW(read_yaml(text, "x.yaml"), InputError) << text;
    EXPECT_THROW(yaml_trees(text, "x.yaml"), InputError) << text;
  }
  try {
    read_yaml("a: 1\nb: 2\na: 3\n", "x.yaml");
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("a: stands twice in one map, in lines 1 and 3"));
  }
}

TEST(YamlForm, WhatIsMergedStandsWhereTheMapItselfHasNoSuchName) {
  std::string text;
  for (const RecipeSetting& one : read_yaml("s:\n  <<: {a: 1, b: 2}\n  b: 3\nt:\n  <<: [{a: 4}, {a: 5, c: 6}]\n", "x.yaml"))
    text += one.key + "=" + one.value + " ";
  EXPECT_EQ(text, "s.b=3 s.a=1 t.a=4 t.c=6 ");
}

TEST(YamlForm, OneDocumentIsRead) {
  EXPECT_THROW(read_yaml("a: 1\n---\nb: 2\n", "x.yaml"), InputError);
  EXPECT_EQ(read_yaml("---\na: 1\n---\n", "x.yaml").size(), 1U);
}

TEST(YamlForm, NamesWithinAListAreRead) {
  const RecipeSettings all = read_yaml("data:\n- name: one\n  of: {a: true, b: [1, 2]}\n- two\n", "x.yaml");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().value, "[{name: one, of: {a: true, b: [1, 2]}}, two]");
  std::string many = "a: &l0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";  // aliases multiply
  for (int level = 1; level < 8; ++level) {
    many += "b" + std::to_string(level) + ": &l" + std::to_string(level) + " [";
    for (int item = 0; item < 10; ++item) many += "*l" + std::to_string(level - 1) + (item < 9 ? ", " : "]\n");
  }
  EXPECT_THROW(read_yaml(many, "x.yaml"), InputError);
}

TEST(YamlForm, NamesOfOtherValuesAreTheirValues) {
  const RecipeSettings all = read_yaml("a:\n  x: 4\n  b:\n    y: ${..x}\n    z: ${a.x}${.y}\n    w: ${TP}\n    v: ${.none}\n", "x.yaml");
  std::string text;
  for (const RecipeSetting& one : all) text += one.key + "=" + one.value + " ";
  EXPECT_EQ(text, "a.x=4 a.b.y=4 a.b.z=44 a.b.w=${TP} a.b.v=${.none} ");
}

TEST(YamlForm, ProductsAndQuotientsOfNames) {
  const RecipeSettings all =
      read_yaml("h: 8\nf: ${multiply:4, ${.h}}\nd: ${divide:${h}, 2}\nn: ${divide:8, 0}\no: ${other:1, 2}\n", "x.yaml");
  std::string text;
  for (const RecipeSetting& one : all) text += one.key + "=" + one.value + " ";
  EXPECT_EQ(text, "h=8 f=32 d=4 n=${divide:8, 0} o=${other:1, 2} ");
}

TEST(YamlForm, AScriptBeginsOtherwise) {
  for (const char* const text : {"a: 1\n", "# --x 1\n\n---\nmodel:\n  b: 1\n", "'a': x\n", "MODEL_ARGS:\r\n  --b: 1\n"})
    EXPECT_TRUE(begins_as_yaml(text)) << text;
  for (const char* const text : {"", "#!/bin/bash\n: \"${A:=1}\"\n", "A=1\n", "run --a 1\n", "http://x\n", "{\n \"a\": 1}\n"})
    EXPECT_FALSE(begins_as_yaml(text)) << text;
}

// yaml-cpp reads some broken documents as endlessly many.
TEST(YamlForm, DocumentsEnd) {
  for (const std::string text : {"a: [1\n]]\n}", "- a\n---\n}\n", "a: {b\n--- {\n}: ]", "a: 1\n}", "\"a\nb: ]\n---\n]"})
    EXPECT_THROW(yaml_trees(text, "given"), InputError);
  EXPECT_EQ(yaml_trees("%YAML 1.2\n---\na: 1\n...\n# nothing\n---\nb: 2\n---\n", "given").size(), 2u);
  EXPECT_EQ(yaml_trees("a: |\n  text\n  ---\nb: 2\n", "given").size(), 1u) << "within a text";
  EXPECT_THAT([] { yaml_trees("a: 1\n...\n---\nb: 2\n c: [\n", "given"); },
              ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("line 5")));
}

}  // namespace
}  // namespace sim
