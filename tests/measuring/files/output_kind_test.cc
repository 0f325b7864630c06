#include "files/output_kind.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "files/output_file.h"
#include "temporary_folder.h"

namespace zerotax {
namespace {

namespace fs = std::filesystem;

class OutputKind : public WithTemporaryFolder {
 protected:
  void TearDown() override {
    output_rules() = {};
    WithTemporaryFolder::TearDown();
  }
  /// Returns the message that refuses to let the option replace a file with this text; empty if the option may replace
  /// it.
  std::string refusal(const std::string& option, const std::string& text) {
    write("file", text);
    try {
      check_outputs({{option, path("file")}});
      return "";
    } catch (const UsageError& failure) {
      return failure.what();
    }
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
};

TEST_F(OutputKind, ReplacesWhatTheSameOptionWrote) {
  const std::pair<const char*, const char*> ours[] = {
      {"--json", R"({"schema": "zerotax.record/1"})"},
      {"--benchmark-json", R"({"context": {"executable": "zerotax compare"}})"},
      {"--bmf", R"({"glibc/1MiB": {"zeroed-bytes": {"value": 3, "lower_value": 2}}})"},
      {"--csv", "allocator_old,allocator_new,case\n"},
      {"--faults", "{\"time_ns\":1,\"pid\":2,\"class\":\"copy\"}\n"},
      {"--folded", "main;run it;calloc 4096\nmain 1\n"},
      {"--html", "<!DOCTYPE html>\n<html><b>zerotax</b>"},
      {"--junit", "<?xml version=\"1.0\"?>\n<testsuites name=\"zerotax check\">"},
      {"--man", ".\\\" Written\n.TH ZEROTAX 1 \"\"\n"},
      {"--markdown", "### zerotax check: same\n"},
      {"--markdown", "## Advice\n\n"},
      {"--perfetto", R"({"displayTimeUnit":"ns","traceEvents":[{"name":"zerotax","ph":"M"}]})"},
      {"--report", "# x: y\n\nDraft. `zerotax bisect` wrote it; check it\n"},
      {"--svg", "<?xml version=\"1.0\"?>\n<svg>\n</svg>\n<!-- zerotax -->\n"},
      {"--svg", "<svg><dc:creator><dc:title>zerotax</dc:title></dc:creator></svg>"},
      {"--text", "zerotax record: ls exited with 0 after 1 ms\n"},
      {"--text", "ls\n997 samples\n\nTime by activity\n"},
  };
  for (const auto& [option, text] : ours) {
    EXPECT_TRUE(is_output_option(option));
    EXPECT_EQ(refusal(option, text), "") << option;
    EXPECT_EQ(refusal(option, ""), "") << "an empty file has nothing to lose";
    EXPECT_NE(refusal(option, "my notes; 3 of them\n"), "") << option;
    for (const char* mine : {R"({"mine": 1})", R"({"mine": {}})", "{}"}) EXPECT_NE(refusal(option, mine), "") << option;
    EXPECT_NE(refusal(option, std::string(10, '\0')), "") << option;
    EXPECT_EQ(read("file"), std::string(10, '\0')) << "looking changes nothing";
  }
}

TEST_F(OutputKind, OfADocumentIsThatOfItsCommand) {
  const std::string record = R"({"schema": "zerotax.record/1"})";
  output_rules().command = "record";
  EXPECT_EQ(refusal("--json", record), "");
  output_rules().command = "run";
  EXPECT_NE(refusal("--json", record).find("`zerotax run --json` did not write"), std::string::npos);
  output_rules().command = "snapshot";
  EXPECT_EQ(refusal("--json", R"({"schema": "zerotax.snapshot_sweep/1"})"), "");
  EXPECT_NE(refusal("--json", R"({"schema": "zerotax.snapshotted/1"})"), "");
  EXPECT_NE(refusal("--json", R"({"schema": "zerotax.snapshot/1")"), "") << "half of it";
}

TEST_F(OutputKind, ReplacesAnythingByForceButWhatCanBeExecuted) {
  output_rules() = {"record", true};
  EXPECT_EQ(refusal("--json", "my notes"), "");
  EXPECT_NE(refusal("--json", "\177ELF and more"), "") << "a library has no x";
  write("file", R"({"schema": "zerotax.record/1"})");
  fs::permissions(path("file"), fs::perms::owner_exec, fs::perm_options::add);
  EXPECT_THROW(check_outputs({{"--json", path("file")}}), UsageError);
}

TEST_F(OutputKind, IsAskedAgainWhenItIsWritten) {
  check_outputs({{"--json", path("late")}});
  write("late", "of the program that was recorded");
  try {
    write_file(path("late"), "{}\n");
    FAIL() << "it was replaced";
  } catch (const UsageError& failure) {
    const std::string& remedy = failure.remedy();
    EXPECT_EQ(read(fs::path(remedy.substr(remedy.find('/'))).filename()), "{}\n") << remedy;
  }
  EXPECT_EQ(read("late"), "of the program that was recorded");
}

TEST_F(OutputKind, FollowsALinkAndRefusesALoopOfThem) {
  write("to", "");
  fs::create_symlink("to", path("link"));
  check_outputs({{"--json", path("link")}});
  write_file(path("link"), "{}\n");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read("to"), "{}\n");
  fs::create_symlink("loop", path("loop"));
  EXPECT_THROW(check_outputs({{"--json", path("loop")}}), UsageError);
  EXPECT_THROW(write_file(path("loop"), "x"), UsageError);
  EXPECT_TRUE(fs::is_symlink(path("loop")));
}

TEST_F(OutputKind, WritesOnWhereAPathNamesADescriptor) {
  EXPECT_EQ(own_descriptor("-"), 1);
  EXPECT_EQ(own_descriptor("/dev/stderr"), 2);
  EXPECT_EQ(own_descriptor("/proc/self/fd/12"), 12);
  EXPECT_EQ(own_descriptor("/dev/fd/1x"), std::nullopt);
  std::FILE* file = std::fopen(path("there").c_str(), "w");
  std::fputs("before ", file);
  std::fflush(file);
  const std::string name = "/dev/fd/" + std::to_string(::fileno(file));
  check_outputs({{"--json", name}});
  write_file(name, "after");
  std::fclose(file);
  EXPECT_EQ(read("there"), "before after");
}

}  // namespace
}  // namespace zerotax
