#include "weights_tools/staged_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace gpt2::tools {
namespace {

class StagedFolderTest : public ::testing::TestWithParam<Replacement> {
 protected:
  StagedFolderTest()
      : parent(fs::path(::testing::TempDir()) / ("staged-folder-" + std::to_string(getpid()))) {
    fs::remove_all(parent);
    fs::create_directories(parent);
  }
  ~StagedFolderTest() override { fs::remove_all(parent); }

  // A folder "out" with a model's files, each of which holds `text`.
  void MakeOut(const std::string& text) {
    fs::create_directory(out);
    for (const char* name : {"config.json", "model.safetensors.000"}) {
      std::ofstream(out / name) << text;
    }
  }

  StagedFolder Stage(const std::string& text) {
    auto staged = StagedFolder::Make(Destination::Of(out).value());
    EXPECT_TRUE(staged.ok()) << staged.error().message;
    auto file = staged.value().Create("config.json");
    EXPECT_TRUE(file.value().Write(std::as_bytes(std::span(text))).ok());
    EXPECT_TRUE(file.value().Close().ok());
    return std::move(staged.value());
  }

  std::string OutConfig() { return ReadFile(out / "config.json").value(); }

  // Names in the parent folder.
  std::vector<std::string> Names() { return Folder::Open(parent).value().Entries().value(); }

  const fs::path parent;
  const fs::path out = parent / "out";
  const std::vector<std::string> only_out = {"out"};
};

TEST_P(StagedFolderTest, TakesAFreePlace) {
  EXPECT_TRUE(Stage("new").Commit(/*force=*/false, {}, GetParam()).ok());
  EXPECT_EQ(OutConfig(), "new");
  EXPECT_EQ(Names(), only_out);
}

TEST_P(StagedFolderTest, ReplacesAModelAndRemovesIt) {
  MakeOut("old");
  const auto leftovers = Stage("new").Commit(/*force=*/true, {}, GetParam());
  ASSERT_TRUE(leftovers.ok()) << leftovers.error().message;
  EXPECT_TRUE(leftovers.value().empty());
  EXPECT_EQ(OutConfig(), "new");
  EXPECT_FALSE(fs::exists(out / "model.safetensors.000"));
  EXPECT_EQ(Names(), only_out);
}

TEST_P(StagedFolderTest, WithoutForceWhatIsThereStays) {
  MakeOut("old");
  EXPECT_FALSE(Stage("new").Commit(/*force=*/false, {}, GetParam()).ok());
  EXPECT_EQ(OutConfig(), "old");
  EXPECT_EQ(Names(), only_out);
}

TEST_P(StagedFolderTest, WhatBecameNoModelMeanwhileStays) {
  MakeOut("old");
  {
    StagedFolder staged = Stage("new");
    std::ofstream(out / "thesis.txt") << "dear";
    const auto leftovers = staged.Commit(/*force=*/true, {}, GetParam());
    ASSERT_FALSE(leftovers.ok());
    EXPECT_NE(leftovers.error().message.find("thesis.txt"), std::string::npos);
  }
  EXPECT_EQ(OutConfig(), "old");
  EXPECT_EQ(ReadFile(out / "thesis.txt").value(), "dear");
  EXPECT_EQ(Names(), only_out);
}

TEST_P(StagedFolderTest, IsRemovedIfNotCommitted) {
  Stage("new");
  EXPECT_TRUE(Names().empty());
}

TEST_P(StagedFolderTest, KeepsAFileThatOthersPutIntoIt) {
  std::string name;
  {
    StagedFolder staged = Stage("new");
    name = staged.folder().path().filename().string();
    std::ofstream(staged.folder().path() / "thesis.txt") << "dear";
  }
  EXPECT_EQ(ReadFile(parent / name / "thesis.txt").value(), "dear");
}

INSTANTIATE_TEST_SUITE_P(Both, StagedFolderTest,
                         ::testing::Values(Replacement::kExchangeIfPossible,
                                           Replacement::kMoveAside));

}  // namespace
}  // namespace gpt2::tools
