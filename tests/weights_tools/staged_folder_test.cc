#include "weights_tools/staged_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/support/has.h"

namespace {

ino_t InodeOf(const std::filesystem::path& path) {
  struct stat found{};
  return stat(path.c_str(), &found) == 0 ? found.st_ino : 0;
}

// The folders and files that were synced to the disk, and the state of `g_out` at that time.
struct Sync {
  ino_t inode;
  ino_t out;
};
std::filesystem::path g_out;
std::vector<Sync> g_syncs;

}  // namespace

// Replaces the system's fsync, because a test cannot simulate a power failure.
extern "C" int fsync(int file) {
  struct stat found{};
  if (fstat(file, &found) != 0) return -1;
  g_syncs.push_back({found.st_ino, InodeOf(g_out)});
  return 0;
}

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

TEST_P(StagedFolderTest, CommitCreatesTheFolder) {
  EXPECT_TRUE(Stage("new").Commit(/*force=*/false, {}, GetParam()).ok());
  EXPECT_EQ(OutConfig(), "new");
  EXPECT_EQ(Names(), only_out);
}

TEST_P(StagedFolderTest, CommitReplacesAnExistingModel) {
  MakeOut("old");
  const auto leftovers = Stage("new").Commit(/*force=*/true, {}, GetParam());
  ASSERT_TRUE(leftovers.ok()) << leftovers.error().message;
  EXPECT_TRUE(leftovers.value().empty());
  EXPECT_EQ(OutConfig(), "new");
  EXPECT_FALSE(fs::exists(out / "model.safetensors.000"));
  EXPECT_EQ(Names(), only_out);
}

TEST_P(StagedFolderTest, FilesAreSyncedBeforeTheFolderIsRenamed) {
  for (const bool is_there : {false, true}) {
    if (is_there) MakeOut("old");
    g_out = out;
    g_syncs.clear();
    StagedFolder staged = Stage("new");
    const ino_t folder = InodeOf(staged.folder().path());
    const ino_t file = InodeOf(staged.folder().path() / "config.json");
    ASSERT_TRUE(staged.Commit(/*force=*/is_there, {}, GetParam()).ok());
    ASSERT_EQ(InodeOf(out), folder);
    const auto is_synced = [&](ino_t inode, bool has_its_name) {
      return std::ranges::any_of(g_syncs, [&](const Sync& sync) {
        return sync.inode == inode && (sync.out == folder) == has_its_name;
      });
    };
    EXPECT_TRUE(is_synced(file, /*has_its_name=*/false));
    EXPECT_TRUE(is_synced(folder, /*has_its_name=*/false));
    EXPECT_TRUE(is_synced(InodeOf(parent), /*has_its_name=*/true));
  }
}

TEST_P(StagedFolderTest, WithoutForceAnExistingFolderIsKept) {
  MakeOut("old");
  EXPECT_FALSE(Stage("new").Commit(/*force=*/false, {}, GetParam()).ok());
  EXPECT_EQ(OutConfig(), "old");
  EXPECT_EQ(Names(), only_out);
}

TEST_P(StagedFolderTest, AFolderWithOtherFilesIsNotReplaced) {
  MakeOut("old");
  {
    StagedFolder staged = Stage("new");
    std::ofstream(out / "thesis.txt") << "dear";
    const auto leftovers = staged.Commit(/*force=*/true, {}, GetParam());
    ASSERT_FALSE(leftovers.ok());
    EXPECT_TRUE(Has(leftovers.error().message, "thesis.txt"));
  }
  EXPECT_EQ(OutConfig(), "old");
  EXPECT_EQ(ReadFile(out / "thesis.txt").value(), "dear");
  EXPECT_EQ(Names(), only_out);
}

TEST_P(StagedFolderTest, AnUncommittedFolderIsRemoved) {
  Stage("new");
  EXPECT_TRUE(Names().empty());
}

TEST_P(StagedFolderTest, CleaningUpKeepsTheFilesOfOtherPrograms) {
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
