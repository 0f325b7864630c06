#include "prove/program_writer.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "files/folders.h"
#include "files/output_file.h"
#include "os/child.h"
#include "run/helper_program.h"

// Fields of an operation that a test does not name are 0.
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

namespace zerotax::prove {
namespace {

enum : std::uint32_t { kMalloc = 0, kCalloc = 1, kRealloc = 2, kPosix = 5, kMemalign = 6, kNew = 9 };

/// The number of the first function that is not standard.
std::uint32_t first_own() { return static_cast<std::uint32_t>(functions_of("", "").size()); }

/// Uses each kind of operation.
Ops all_kinds() {
  return {{.kind = kOpCall, .fill = kFillAll, .id = 1, .row = kMalloc, .n = 5000},
          {.kind = kOpCall, .fill = kFillEnds, .id = 2, .row = kCalloc, .n = 3, .m = 100000},
          {.kind = kOpStart, .id = 3, .n = 1},
          {.kind = kOpFree, .thread = 1, .id = 4, .block = 1},
          {.kind = kOpCall, .thread = 1, .fill = kFillBytePerPage, .id = 5, .row = kCalloc, .n = 1, .m = 5000},
          {.kind = kOpCall, .fill = kFillTail, .id = 6, .block = 2, .row = kRealloc, .n = 400000},
          {.kind = kOpEnd, .id = 7, .n = 1},
          {.kind = kOpCall, .fill = kFillBut512, .lg = 8, .id = 8, .row = kPosix, .n = 4000},
          {.kind = kOpCall, .fill = kFillUsable, .lg = 12, .id = 9, .row = kMemalign, .n = 4000},
          {.kind = kOpFork, .id = 10, .block = 8, .m = 3000},
          {.kind = kOpFill, .fill = kFillZeros, .id = 11, .block = 5},
          {.kind = kOpVerify, .id = 12, .block = 5},
          {.kind = kOpPause, .id = 13, .n = 10},
          {.kind = kOpTrim, .id = 14},
          {.kind = kOpCall, .id = 15, .row = kCalloc, .n = 1ULL << 33, .m = 1ULL << 33},
          {.kind = kOpLimit, .id = 16, .n = 1 << 20},
          {.kind = kOpLimit, .id = 17},
          {.kind = kOpFree, .id = 18, .block = 6}};
}

class Programs : public ::testing::Test {
 protected:
  /// Compiles the program and runs it.
  ChildResult run(const Ops& ops, std::optional<FindingKind> kind, const std::string& api = "") {
    write_file(folder_.file("x.c"), program_source(ops, functions_of(api, "x.api"), {kind, "a finding */", "cc x.c"}));
    compile_c(find_c_compiler(), folder_.file("x.c"), folder_.file("x"), {"-O0", "-fno-builtin", "-w"});
    ChildCommand command;
    command.program = folder_.file("x");
    command.capture = true;
    return run_child(command, [] { return false; });
  }

  const TemporaryFolder folder_{"test"};
};

TEST_F(Programs, OfAllKindsOfOperationsFindNothingInTheCLibrary) {
  for (const std::optional<FindingKind> kind :
       {std::optional<FindingKind>(), std::optional(FindingKind::kNotZero), std::optional(FindingKind::kOverlap)}) {
    const ChildResult result = run(all_kinds(), kind);
    EXPECT_EQ(result.code, 0) << result.output;
    EXPECT_EQ(result.output, "nothing found\n");
  }
}

TEST_F(Programs, FindABrokenPromise) {
  // The row changes malloc's promise to zeros. A reused block with its old contents breaks this promise.
  const std::string api = "malloc n zero free p\n";
  const Ops ops{{.kind = kOpCall, .fill = kFillAll, .id = 1, .row = kMalloc, .n = 200},
                {.kind = kOpFree, .id = 2, .block = 1},
                {.kind = kOpCall, .id = 3, .row = first_own(), .n = 200}};
  const ChildResult result = run(ops, FindingKind::kNotZero, api);
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.output.find("malloc: "), std::string::npos) << result.output;
}

TEST_F(Programs, LeaveOutOperationsOnBlocksThatDoNotExist) {
  const ChildResult result = run(
      {{.kind = kOpFree, .id = 1, .block = 77}, {.kind = kOpCall, .id = 2, .block = 5, .row = kRealloc, .n = 9}}, {});
  EXPECT_EQ(result.output, "nothing found\n");
}

TEST(Functions, AreReadFromLines) {
  const auto all = functions_of("# a comment\nmi_calloc_aligned n,m,a zero free p\n\n", "x.api");
  ASSERT_EQ(all.size(), first_own() + 1U);
  EXPECT_TRUE(all[kPosix].is_declared);
  EXPECT_FALSE(all[kNew].is_declared);
  EXPECT_EQ(all.back().promise, Promise::kZero);
  EXPECT_TRUE(all.back().has_argument("a"));
}

TEST(Functions, OfInvalidLinesAreRefusedInOneLine) {
  for (const char* line : {"f", "f n zero free", "f n gone free p", "f n,n,n,n,n,n zero free p", "f q zero free p"}) {
    try {
      functions_of(line, "x.api");
      ADD_FAILURE() << line;
    } catch (const UsageError& failure) {
      EXPECT_EQ(std::string(failure.what()).find("x.api: '"), 0U);
    }
  }
}

}  // namespace
}  // namespace zerotax::prove
