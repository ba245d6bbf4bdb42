#include "sim/units/own_file.h"

#include <gtest/gtest.h>

#include <fstream>

namespace sim {
namespace {

bool may_write(const std::string& bytes, OwnFile kind) {
  const std::string path = testing::TempDir() + "own_file";
  std::ofstream(path, std::ios::binary) << bytes;
  return may_be_written_over(path, kind);
}

TEST(OwnFile, WhatWasWrittenHereMayBeWrittenAgain) {
  EXPECT_TRUE(may_write("{\n  \"format\": \"meshwright.plan/1\"", OwnFile::Document));
  EXPECT_TRUE(may_write(std::string("a\0b\0", 4), OwnFile::Tokens));
  EXPECT_TRUE(may_write("meshtok1....", OwnFile::Tokens));
  EXPECT_TRUE(may_write("0F0,1F0\n1F0\n", OwnFile::Order));
  EXPECT_TRUE(may_write("# by Meshwright\n", OwnFile::Recipe));
}

TEST(OwnFile, EverythingElseMayNot) {
  for (const OwnFile kind :
       {OwnFile::Document, OwnFile::Trace, OwnFile::Snapshot, OwnFile::Tokens, OwnFile::Order, OwnFile::Recipe, OwnFile::Weights}) {
    EXPECT_FALSE(may_write("Dear diary, it is all in here.", kind));
    EXPECT_TRUE(may_write("", kind));
    EXPECT_TRUE(may_be_written_over("/dev/null", kind));
    EXPECT_TRUE(may_be_written_over("/no/such/file", kind));
  }
}

}  // namespace
}  // namespace sim
