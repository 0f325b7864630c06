#include "advise/fork_remedies.h"

#include <gtest/gtest.h>

#include "advise/copy_watch.h"
#include "os/page.h"

namespace zerotax::advise {
namespace {

std::vector<std::string> names(const ForkRemedies& found) {
  std::vector<std::string> all;
  for (const Remedy& remedy : found.remedies) all.push_back(remedy.name);
  return all;
}

TEST(ForkRemedies, AreTheLinesThatAnInterpreterPermits) {
  const ForkHook hook;
  HookNotes notes;
  EXPECT_TRUE(fork_remedies(hook, notes, {"/usr/bin/redis-server"}).not_tried.empty());
  notes.python = "3.11.2";
  notes.python_can_freeze = notes.python_forks = notes.multiprocessing = true;
  const ForkRemedies python = fork_remedies(hook, notes, {});
  EXPECT_EQ(names(python), (std::vector<std::string>{"gc.freeze() before fork", "gc.disable() before fork"}));
  EXPECT_TRUE(python.multiprocessing && python.not_tried.empty());
  EXPECT_EQ(python.remedies.front().source, "import gc; gc.collect(); gc.freeze()");
  EXPECT_EQ(settings(python.remedies.front()), 1U);
  EXPECT_EQ(paste_text(python.remedies.front()), "");
  const auto variables = environment_of(python.remedies.front());
  EXPECT_EQ(variables.at("ZEROTAX_BEFORE_FORK"), "freeze");
  EXPECT_TRUE(variables.contains("PYTHONPATH") && !variables.contains("RUBYOPT"));
}

TEST(ForkRemedies, HaveAReasonIfTheyCannotBeTried) {
  const ForkHook hook;
  HookNotes notes;
  const auto why = [&](const std::vector<std::string>& files) {
    const ForkRemedies found = fork_remedies(hook, notes, files);
    EXPECT_TRUE(found.remedies.empty());
    return found.not_tried.empty() ? "" : found.not_tried.front().why;
  };
  EXPECT_NE(why({"/usr/bin/python3.11"}).find("-I, -E or -S"), std::string::npos);
  notes.python = "3.6.15";
  EXPECT_EQ(why({}), "Python 3.6.15 lacks gc.freeze and os.register_at_fork");
  notes.python_can_freeze = true;
  EXPECT_EQ(why({}), "no fork of the program calls os.fork");
  notes = {};
  notes.ruby = "3.0.2";
  EXPECT_EQ(why({}), "Ruby 3.0.2 lacks Process._fork, and a hook needs it");
  notes.ruby = "3.1.2";
  notes.ruby_can_hook = notes.ruby_can_compact = true;
  EXPECT_EQ(why({}), "no fork of the program calls Process.fork");
  notes.ruby_forks = true;
  const ForkRemedies ruby = fork_remedies(hook, notes, {});
  EXPECT_EQ(names(ruby), std::vector<std::string>{"GC.compact before fork"});
  EXPECT_EQ(ruby.not_tried.front().why, "Ruby 3.1.2 lacks Process.warmup, which exists since 3.3");
}

TEST(ForkRemedies, CanBeCombinedWithinPythonAndWithSettings) {
  const ForkHook hook;
  const Remedy freeze = fork_remedy(hook, ForkChange::kFreeze);
  const Remedy disable = fork_remedy(hook, ForkChange::kDisable);
  const Remedy compact = fork_remedy(hook, ForkChange::kCompact);
  EXPECT_FALSE(can_combine(freeze, compact));
  EXPECT_FALSE(can_combine(compact, fork_remedy(hook, ForkChange::kWarmup)));
  ASSERT_TRUE(can_combine(freeze, disable));
  const Remedy both = combined(freeze, disable);
  EXPECT_EQ(both.source, "import gc; gc.disable(); gc.collect(); gc.freeze()");
  EXPECT_EQ(environment_of(both).at("ZEROTAX_BEFORE_FORK"), "freeze,disable");
  EXPECT_EQ(settings(both), 2U);
  Remedy arena;
  arena.name = "glibc: one arena";
  arena.env["MALLOC_ARENA_MAX"] = "1";
  ASSERT_TRUE(can_combine(arena, freeze));
  EXPECT_EQ(paste_text(combined(arena, freeze)), "MALLOC_ARENA_MAX=1");
  EXPECT_EQ(combined(arena, freeze).source, freeze.source);
}

TEST(ForkRemedies, KeepLargeBlocksOutOfChildrenThatDoNotReadThem) {
  const ForkHook hook;
  HookNotes notes;
  ForkRemedies found;
  add_dont_fork(hook, notes, true, "", found);
  EXPECT_TRUE(found.remedies.empty() && found.not_tried.empty());
  notes.large_bytes = 64 << 20;
  add_dont_fork(hook, notes, true, "main.c:3 (main)", found);
  ASSERT_EQ(names(found), std::vector<std::string>{"MADV_DONTFORK for large blocks"});
  const Remedy& remedy = found.remedies.front();
  EXPECT_EQ(remedy.source, "madvise(p, n, MADV_DONTFORK);");
  EXPECT_NE(remedy.words.find("here 64 MiB, mostly of main.c:3 (main)"), std::string::npos);
  EXPECT_EQ(environment_of(remedy).at("ZEROTAX_BEFORE_FORK"), "dontfork");
  EXPECT_FALSE(can_combine(remedy, fork_remedy(hook, ForkChange::kFreeze)));
  add_dont_fork(hook, notes, false, "", found);
  notes.reads_large = true;
  add_dont_fork(hook, notes, true, "", found);
  ASSERT_EQ(found.not_tried.size(), 2U);
  EXPECT_EQ(found.not_tried.back().why, "a child of fork reads or writes a block of 1 MiB or more");
}

TracedProcess traced(pid_t pid, pid_t parent, std::uint64_t copied, std::uint64_t of_files = 0) {
  TracedProcess process;
  process.pid = pid;
  process.parent = parent;
  process.counts.copied_bytes = copied;
  process.counts.file_copied_bytes = of_files;
  return process;
}

TEST(CopyWatch, CountsTheProgramAndItsDescendantsWithoutFirstWritesToFiles) {
  FaultData data;
  data.processes = {traced(1, 0, 7000), traced(2, 1, 10'000, 4000), traced(3, 2, 500), traced(4, 3, 90, 50),
                    traced(5, 1, 80'000)};
  data.processes[1].before_exec = FaultCounts{};
  data.processes[1].before_exec->copied_bytes = 1000;
  data.processes[3].before_exec = FaultCounts{};
  data.processes[3].before_exec->copied_bytes = 30;
  const Copies copies = copies_of(data, 2);
  EXPECT_EQ(copies.copied_bytes, 5540);
  EXPECT_EQ(copies.by_first_bytes, 5000);
  EXPECT_EQ(copies.before_exec_bytes, 30);
  EXPECT_EQ(copies.forks, 2);
  EXPECT_EQ(copies.execs, 1);
  EXPECT_EQ(copies.seen, CopiesSeen::kAll);
  EXPECT_FALSE(copies.at_most_bytes);
}

TEST(CopyWatch, HasNoCountIfEventsWereLostAndABoundWithoutRoot) {
  FaultData data;
  data.processes = {traced(2, 1, 10'000)};
  data.lost = 3;
  EXPECT_EQ(copies_of(data, 2).copied_bytes.why(), "the kernel lost 3 events");
  data.lost = 0;
  data.every_fault = false;
  data.bounds = {{0, 9}, {0, std::nullopt}};
  const Copies copies = copies_of(data, 2);
  EXPECT_EQ(copies.seen, CopiesSeen::kUserMode);
  EXPECT_EQ(copies.at_most_bytes, 9 * page_bytes());
  EXPECT_FALSE(copies.zero_filled_bytes);
}

}  // namespace
}  // namespace zerotax::advise
