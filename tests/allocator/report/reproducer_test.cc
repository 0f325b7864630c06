#include "report/reproducer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "exchange/forms.h"
#include "run/helper_program.h"

namespace zerotax::report {

namespace {

const ReproducerWords kWords{"a title with a comment's end */ in it", "cc reproducer.c && ./a.out"};

Finding of(const std::string& name, const std::string& rule, std::uint64_t size) {
  Finding finding;
  finding.name = name;
  finding.rule = rule;
  finding.named_bytes = size;
  return finding;
}

TEST(Reproducer, EveryFindingHasOneOfAtMostFortyLinesThatCompilesWithoutAWarning) {
  const CCompiler compiler = find_c_compiler();
  for (const std::string& name : finding_names()) {
    const std::string source =
        reproducer_source(of(name, name.starts_with("worker") ? "worker-differs" : name, 104857600), kWords);
    EXPECT_LE(std::count(source.begin(), source.end(), '\n'), 40) << name;
    EXPECT_EQ(source.find('@'), std::string::npos) << name;
    const ReproducerProgram program(compiler, source);  // throws if the compiler warns
  }
}

TEST(Reproducer, ShowsNothingOfTheCLibraryWhereThereIsNothingToShow) {
  // glibc keeps only blocks up to 32 MiB, so every call makes and removes a mapping of 48 MiB without zeroing.
  const CCompiler compiler = find_c_compiler();
  for (const char* name :
       {"redundant-fresh", "redundant-reuse", "first-calls-differ", "not-zero", "cliff", "worker-differs"}) {
    const ReproducerProgram program(compiler, reproducer_source(of(name, name, 50331648), kWords));
    const ReproducerRun run = program.run({"glibc", "", {}, {}, ""});
    EXPECT_TRUE(run.does_not_show()) << name << ": " << run.ended << "\n" << run.output;
    EXPECT_NE(run.output.find("does not show"), std::string::npos);
  }
  const ReproducerProgram storm(compiler, reproducer_source(of("purge-storm", "purge-storm", 50331648), kWords));
  EXPECT_TRUE(storm.run({"glibc", "", {}, {}, ""}).shows());
}

TEST(Reproducer, OneThatDoesNotCompileIsSaid) {
  EXPECT_THROW(ReproducerProgram(find_c_compiler(), "int main(void) { int unused; return 0; }\n"), std::exception);
}

TEST(Reproducer, OneThatCrashesShowsNothing) {
  const ReproducerProgram program(find_c_compiler(), "#include <stdlib.h>\nint main(void) { abort(); }\n");
  const ReproducerRun run = program.run({"glibc", "", {}, {}, ""});
  EXPECT_FALSE(run.shows());
  EXPECT_FALSE(run.does_not_show());
  EXPECT_NE(run.ended.find("signal 6"), std::string::npos) << run.ended;
}

TEST(Reproducer, IdsArePossibleOrNot) {
  EXPECT_TRUE(is_possible_id("a-redundant-fresh-first-20MiB", "a"));
  EXPECT_TRUE(is_possible_id("a-cliff-33550313", "a"));
  for (const char* id : {"", "a", "a-cliff-", "b-cliff-7", "a-bogus-1MiB", "a-cliff-many", "aa-cliff-7"}) {
    EXPECT_FALSE(is_possible_id(id, "a")) << id;
  }
}

TEST(FillIn, LeavesWhatIsFilledInAlone) {
  EXPECT_EQ(fill_in("@A@ and @B_C@, a@b.c", {{"A", "@B_C@"}, {"B_C", "2"}}), "@B_C@ and 2, a@b.c");
  EXPECT_THROW(fill_in("@NOBODY@", {}), std::logic_error);
}

TEST(Forms, EveryFormOfAProjectIsThere) {
  for (const char* form : {"github", "bugzilla", "onetbb", "distribution"}) {
    EXPECT_EQ(embedded_forms().count(form), 1U) << form;
  }
}

}  // namespace
}  // namespace zerotax::report
