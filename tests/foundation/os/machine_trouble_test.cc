#include "os/machine_trouble.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <csignal>

#include "os/limits.h"

namespace zerotax {
namespace {

using End = ChildResult::End;

/// Sets a soft limit for the life of this object.
class Limited {
 public:
  Limited(__rlimit_resource resource, rlim_t value) : resource_(resource) {
    ::getrlimit(resource_, &before_);
    const rlimit now{value, before_.rlim_max};
    ::setrlimit(resource_, &now);
  }
  ~Limited() { ::setrlimit(resource_, &before_); }
  Limited(const Limited&) = delete;
  Limited& operator=(const Limited&) = delete;

 private:
  __rlimit_resource resource_;
  rlimit before_{};
};

ChildResult child_of(End end, int code) {
  ChildResult child;
  child.end = end;
  child.code = code;
  return child;
}

TEST(MachineTrouble, NamesTheLimitAsTheShellDoes) {
  const Limited limited(RLIMIT_AS, rlim_t{4'000'000'000'000} * 1024);
  EXPECT_EQ(limit_words(RLIMIT_AS), "the limit of address space, ulimit -v 4000000000000");
  const MachineError error = call_trouble("mmap", ENOMEM);
  EXPECT_STREQ(error.what(), "mmap: Cannot allocate memory (the limit of address space, ulimit -v 4000000000000)");
  EXPECT_EQ(error.remedy(), "raise the limit, as with ulimit -v unlimited");
  EXPECT_EQ(error.status(), ExitStatus::kMachine);
}

TEST(MachineTrouble, BlamesAnAllocatorWhereNothingIsLimited) {
  if (resource_limit(RLIMIT_AS) || resource_limit(RLIMIT_DATA)) GTEST_SKIP() << "memory is limited here";
  for (const int signal : {SIGSEGV, SIGABRT, SIGKILL}) EXPECT_FALSE(limit_behind(child_of(End::kSignalled, signal)));
  EXPECT_FALSE(limit_behind(child_of(End::kExited, 1)));
  EXPECT_NO_THROW(throw_if_limited(child_of(End::kSignalled, SIGSEGV), "mine: crashed"));
}

TEST(MachineTrouble, BlamesNobodyWhereMemoryIsLimited) {
  const Limited limited(RLIMIT_AS, rlim_t{1} << 60);
  EXPECT_EQ(limit_behind(child_of(End::kSignalled, SIGABRT)), RLIMIT_AS);
  EXPECT_EQ(limit_behind(child_of(End::kExited, 1)), RLIMIT_AS);
  EXPECT_FALSE(limit_behind(child_of(End::kTimeout, 0)));
  EXPECT_THROW(throw_if_limited(child_of(End::kSignalled, SIGABRT), "mine: crashed"), MachineError);
}

TEST(MachineTrouble, TakesTheSignalOfALimitForThatLimit) {
  const Limited cpu(RLIMIT_CPU, 1000);
  EXPECT_EQ(limit_behind(child_of(End::kSignalled, SIGXCPU)), RLIMIT_CPU);
  const Limited files(RLIMIT_FSIZE, rlim_t{1} << 40);
  EXPECT_EQ(limit_behind(child_of(End::kSignalled, SIGXFSZ)), RLIMIT_FSIZE);
}

TEST(MachineTrouble, TellsAMissingProbeFromAMachineThatStartsNothing) {
  ChildResult child = child_of(End::kNotStarted, ENOENT);
  child.failed_call = "exec";
  EXPECT_EQ(start_trouble("the probe 'p'", child, "build it").remedy(), "build it");
  child.code = EMFILE;
  child.failed_call = "pipe";
  const MachineError error = start_trouble("the probe 'p'", child, "build it");
  EXPECT_NE(std::string(error.what()).find("open file descriptors, ulimit -n"), std::string::npos) << error.what();
  EXPECT_EQ(error.remedy().find("build it"), std::string::npos);
}

}  // namespace
}  // namespace zerotax
