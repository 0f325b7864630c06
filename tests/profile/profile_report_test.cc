#include <gtest/gtest.h>

#include <sstream>

#include "profile/document.h"

namespace zerotax::profile {
namespace {

const Frame kProgram{"prog", ""};
const Frame kMain{"main", "prog"};
const Frame kCalloc{"calloc", "libc.so.6"};
const Frame kMemset{"__memset_avx2_unaligned_erms", "libc.so.6"};
const Frame kEntry{"entry_SYSCALL_64_after_hwframe", "kernel"};
const Frame kFault{"asm_exc_page_fault", "kernel"};
const Frame kClear{"clear_page_erms", "kernel"};

ProfileData data() {
  ProfileData made;
  made.stacks = {{{kProgram, kMain, kCalloc, kMemset}, 60},
                 {{kProgram, kMain, kCalloc, kMemset, kFault, kClear}, 25},
                 {{kProgram, kMain, kFault}, 5},
                 {{kProgram, kMain, kCalloc}, 4},
                 {{kProgram, kMain}, 3},
                 {{kProgram, kMain, {"munmap", "libc.so.6"}, kEntry, {"__x64_sys_munmap", "kernel"}}, 2},
                 {{kProgram, kMain, {"read", "libc.so.6"}, kEntry, {"ksys_read", "kernel"}}, 1}};
  made.samples = 100;
  made.sees_kernel = true;
  made.knows_kernel_names = true;
  return made;
}

ProfileSubject subject() {
  ProfileSubject made;
  made.command = {"./prog", "word"};
  made.hz = 997;
  made.started = "2026-11-20T00:00:00Z";
  return made;
}

Json made_json(const ProfileData& from) { return profile_json(subject(), from, Json::object()); }

const Json& category(const Json& profile, const std::string& name) {
  for (const Json& entry : profile.at("categories")) {
    if (entry.at("category") == name) return entry;
  }
  throw std::out_of_range(name);
}

TEST(ProfileCategory, IsByTheInnermostFrames) {
  EXPECT_EQ(category_of({kProgram, kMain, kCalloc, kMemset}, Fill::kZeros), "zeroing");
  EXPECT_EQ(category_of({kProgram, kMain, kCalloc, kMemset, kFault}), "page faults");
  EXPECT_EQ(category_of({kProgram, kMain, kMemset, kFault, {"handle_mm_fault", "kernel"}, kClear}), "page faults");
  EXPECT_EQ(category_of({kProgram, kMain, kEntry, {"__x64_sys_madvise", "kernel"}, {"zap_pte_range", "kernel"}}),
            "mapping calls");
  EXPECT_EQ(category_of({kProgram, kMain, kEntry, {"ksys_read", "kernel"}}), "other kernel");
  EXPECT_EQ(category_of({kProgram, kMain, {"__memmove_evex_unaligned_erms", "libc.so.6"}}), "copying");
  EXPECT_EQ(category_of({kProgram, kMain, kCalloc}), "allocator");
  EXPECT_EQ(category_of({kProgram, kMain, kCalloc, {"_int_malloc", "libc.so.6"}}), "allocator");
  EXPECT_EQ(category_of({kProgram, kMain}), "program");
  EXPECT_EQ(category_of({kProgram, {"my_malloc_like", "prog"}}), "program");
}

TEST(ProfileCategory, OfAFunctionOfTheProgramThatIsNamedAsTheKernelsIsNotTheKernels) {
  EXPECT_EQ(category_of({kProgram, {"handle_mm_fault", "prog"}}), "program");
}

TEST(ProfileJson, AddsUpThreeTimes) {
  const Json profile = made_json(data());
  std::uint64_t by_category = 0;
  std::uint64_t by_function = 0;
  std::uint64_t by_root = 0;
  for (const Json& entry : profile.at("categories")) by_category += entry.at("samples").get<std::uint64_t>();
  for (const Json& entry : profile.at("top_of_stack")) by_function += entry.at("samples").get<std::uint64_t>();
  for (const Json& entry : profile.at("tree")) by_root += entry.at("samples").get<std::uint64_t>();
  EXPECT_EQ(by_category, 100U);
  EXPECT_EQ(by_function, 100U);
  EXPECT_EQ(by_root, 100U);
  EXPECT_EQ(category(profile, "zeroing").at("samples"), 60);
  EXPECT_EQ(category(profile, "page faults").at("samples"), 30);
  EXPECT_EQ(category(profile, "page faults").at("while_zeroing"), 25);
  EXPECT_EQ(profile.at("tree").at(0).at("children").at(0).at("function"), "main");
  EXPECT_EQ(profile.at("tree").at(0).at("children").at(0).at("children").at(0).at("samples"), 89) << "calloc's";
}

TEST(ProfileJson, DoesNotCallTheKernelsPartZeroWhereItIsNotSampled) {
  ProfileData made = data();
  std::erase_if(made.stacks, [](const auto& entry) { return entry.first.back().module == "kernel"; });
  made.sees_kernel = false;
  const Json profile = made_json(made);
  for (const char* name : {"page faults", "mapping calls", "other kernel"}) {
    EXPECT_TRUE(is_not_available(category(profile, name).at("samples"))) << name;
  }
  EXPECT_TRUE(is_not_available(category(profile, "page faults").at("while_zeroing")));
  EXPECT_TRUE(is_not_available(profile.at("method").at("kernel")));
  EXPECT_NE(profile_text(profile).find("not sampled"), std::string::npos);
}

TEST(ProfileText, FitsItsColumnsAndLeavesOutSmallBranches) {
  ProfileData made = data();
  made.stacks[{kProgram, kMain, {std::string(200, 'x'), "lib.so"}}] = 20;
  made.samples += 20;
  const std::string text = profile_text(made_json(made), 80, 0.05);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  EXPECT_NE(text.find("./prog word"), std::string::npos);
  EXPECT_NE(text.find("in branches below 5 %"), std::string::npos) << text;
  const std::string tree = text.substr(text.find("Call graph"), text.find("Sort by") - text.find("Call graph"));
  EXPECT_EQ(tree.find("ksys_read"), std::string::npos);
  EXPECT_NE(tree.find("clear_page_erms (in kernel)"), std::string::npos);
}

TEST(ProfileText, SaysThatThereWasNothing) {
  EXPECT_NE(profile_text(made_json(ProfileData{})).find("no samples"), std::string::npos);
}

TEST(FoldedStacks, AreOneLineEachWithKernelFramesMarked) {
  ProfileData made;
  made.stacks = {{{kProgram, {"f", "prog"}, kFault}, 3}};
  EXPECT_EQ(folded_text(folded_stacks(made)), "prog;f;asm_exc_page_fault_[k] 3\n");
  EXPECT_EQ(folded_text(folded_stacks(made, 10)), "prog;f;asm_exc_page_fault_[k] 30\n");
}

}  // namespace
}  // namespace zerotax::profile
