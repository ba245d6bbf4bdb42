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
  EXPECT_TRUE(may_write("{\n  \"format\": \"meshwright.plan/1\"", OwnFile::Plan));
  EXPECT_TRUE(may_write("{\n  \"format\": \"meshwright.cluster/1\"", OwnFile::Profile));
  EXPECT_TRUE(may_write("{\"format\": \"meshwright.row_predictions/1\"", OwnFile::Predictions));
  EXPECT_TRUE(may_write(std::string("a\0b\0", 4), OwnFile::Tokens));
  EXPECT_TRUE(may_write("meshtok1....", OwnFile::Tokens));
  EXPECT_TRUE(may_write("0F0,1F0\n1F0\n", OwnFile::Order));
  EXPECT_TRUE(may_write("# Written by Meshwright for\n", OwnFile::Recipe));
  EXPECT_TRUE(may_write("# meshwright.ledger/1\n", OwnFile::Ledger));
  EXPECT_TRUE(
      may_write("\n\x05"
                "0.0.4\x12\x16\n\x08producer\xea\x01\nmeshwright",
                OwnFile::Chakra));
  EXPECT_TRUE(may_write("{\n  \"0\": [0, 1]\n}\n", OwnFile::Groups));
}

// A profile that somebody measured is not lost to a plan, nor a plan to a ledger.
TEST(OwnFile, NorMayWhatAnotherCommandWrote) {
  const std::string profile = "{\n  \"format\": \"meshwright.hardware/2\"", plan = "{\n  \"format\": \"meshwright.plan/1\"";
  EXPECT_FALSE(may_write(profile, OwnFile::Plan));
  EXPECT_FALSE(may_write(plan + ",\n  " + profile, OwnFile::Profile));
  EXPECT_FALSE(may_write(plan, OwnFile::Predictions));
  EXPECT_FALSE(may_write(plan, OwnFile::Ledger));
  EXPECT_FALSE(may_write("#!/bin/sh\nmeshwright plan --model gpt2\n", OwnFile::Recipe));
}

TEST(OwnFile, EverythingElseMayNot) {
  for (const OwnFile kind : {OwnFile::Plan, OwnFile::Profile, OwnFile::Predictions, OwnFile::Trace, OwnFile::Snapshot, OwnFile::Tokens,
                             OwnFile::Order, OwnFile::Ledger, OwnFile::Recipe, OwnFile::Weights, OwnFile::Chakra, OwnFile::Groups}) {
    EXPECT_FALSE(may_write("Dear diary, it is all in here.", kind));
    EXPECT_TRUE(may_write("", kind));
    EXPECT_TRUE(may_be_written_over("/dev/null", kind));
    EXPECT_TRUE(may_be_written_over("/no/such/file", kind));
  }
}

}  // namespace
}  // namespace sim
