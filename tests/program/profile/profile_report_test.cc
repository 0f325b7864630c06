#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "observe/kernel_symbols.h"
#include "profile/categories.h"
#include "profile/result.h"
#include "profile/table.h"
#include "profile/unseen.h"

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
  made.kinds[{kProgram, kMain, kCalloc, kMemset}] = {60, 0, 0};
  made.kinds[{kProgram, kMain, kCalloc, kMemset, kFault, kClear}] = {25, 0, 0};
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

Profile result_of(const ProfileData& from) { return profile_result(subject(), from, Json::object()); }

Json made_json(const ProfileData& from) { return profile_json(result_of(from)); }

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
  const Profile found = result_of(data());
  const Json profile = profile_json(found);
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
  const Profile found = result_of(made);
  const Json profile = profile_json(found);
  for (const char* name : {"page faults", "mapping calls", "other kernel"}) {
    EXPECT_TRUE(is_not_available(category(profile, name).at("samples"))) << name;
  }
  EXPECT_TRUE(is_not_available(category(profile, "page faults").at("while_zeroing")));
  EXPECT_TRUE(is_not_available(profile.at("method").at("kernel")));
  EXPECT_NE(profile_text(found).find("not sampled"), std::string::npos);
}

TEST(ProfileJson, CallsKernelTimeThatWasNotSampledOfUnknownCauseAndBoundsIt) {
  ProfileData made = data();
  std::erase_if(made.stacks, [](const auto& entry) { return entry.first.back().module == "kernel"; });
  made.stacks[{kProgram, {kKernelNotSampled, "kernel"}}] = 133;
  made.samples = 200;
  made.accounted = 133;
  made.sees_kernel = false;
  const Profile found = result_of(made);
  const Json profile = profile_json(found);
  EXPECT_EQ(category(profile, "kernel (cause unknown)").at("samples"), 133);
  for (const char* name : {"page faults", "mapping calls", "other kernel"}) {
    EXPECT_TRUE(is_not_available(category(profile, name).at("samples"))) << name;
    EXPECT_EQ(category(profile, name).at("at_most"), 133) << name;
  }
  const std::string text = profile_text(found);
  EXPECT_NE(text.find("    133   66.5 %  kernel (cause unknown)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    n/a      n/a  page faults (at most 66.5 %)\n"), std::string::npos) << text;
}

TEST(ProfileJson, BoundsPageFaultsByTheRegistersWhereTheKernelHasNoNames) {
  ProfileData made;
  const Frame nameless{KernelSymbols::kUnknown, "kernel"};
  made.stacks = {{{kProgram, kMain}, 40}, {{kProgram, kMain, nameless}, 60}};
  made.kinds[{kProgram, kMain, nameless}].in_call = 12;
  made.samples = 100;
  made.sees_kernel = true;
  const Profile found = result_of(made);
  const Json profile = profile_json(found);
  EXPECT_EQ(category(profile, "kernel (cause unknown)").at("samples"), 60);
  EXPECT_EQ(category(profile, "page faults").at("at_most"), 48);
  EXPECT_EQ(category(profile, "mapping calls").at("at_most"), 12);
  EXPECT_EQ(category(profile, "other kernel").at("at_most"), 60);
  EXPECT_TRUE(is_not_available(category(profile, "page faults").at("samples")));
  EXPECT_EQ(category(profile, "program").at("samples"), 40);
}

TEST(ProfileJson, HasTheAccountAloneWhereNothingCouldBeSampled) {
  ProfileData made;
  made.stacks = {{{kProgram, {kKernelNotSampled, "kernel"}}, 75}, {{kProgram, {kUserNotSampled, ""}}, 25}};
  made.samples = made.accounted = 100;
  made.denied = "a filter denies it";
  ProfileSubject about = subject();
  about.user_s = 0.25;
  about.system_s = 0.75;
  about.hz = 100;
  about.faults = 4711;
  const Profile found = profile_result(about, made, Json::object());
  const Json profile = profile_json(found);
  EXPECT_TRUE(is_mostly_unseen(found));
  for (const char* name : {"zeroing", "program", "allocator", "page faults", "other kernel"}) {
    EXPECT_TRUE(is_not_available(category(profile, name).at("samples"))) << name;
  }
  EXPECT_EQ(category(profile, "running (not sampled)").at("samples"), 25);
  const std::string text = profile_text(found);
  EXPECT_NE(text.find("a filter denies it"), std::string::npos) << text;
  EXPECT_NE(text.find("75.0 %  kernel (cause unknown)"), std::string::npos) << text;
  EXPECT_NE(text.find("4,711"), std::string::npos) << text;
  EXPECT_EQ(text.find("Call graph"), std::string::npos);
}

TEST(ProfileJson, JudgesAnOrdinaryUsersProfileByTheTimeInUserMode) {
  ProfileData made = data();
  made.stacks = {{{kProgram, kMain}, 90}, {{kProgram, {kKernelNotSampled, "kernel"}}, 900}};
  made.samples = 990;
  made.accounted = 900;
  made.sees_kernel = false;
  ProfileSubject about = subject();
  about.hz = 100;
  about.user_s = 1;
  about.system_s = 9;
  const Profile seen = profile_result(about, made, Json::object());
  EXPECT_DOUBLE_EQ(seen.unseen->share, 0.91);
  EXPECT_NEAR(*seen.unseen->user_share, 0.1, 1e-9);
  EXPECT_FALSE(is_mostly_unseen(seen));
  about.user_s = 2;
  EXPECT_TRUE(is_mostly_unseen(profile_result(about, made, Json::object())));
}

TEST(ProfileCategory, OfAMemsetIsByWhatItWrites) {
  const Stack memset{kProgram, kMain, kMemset};
  EXPECT_EQ(category_of(memset, Fill::kZeros), "zeroing");
  EXPECT_EQ(category_of(memset, Fill::kOther), "filling");
  EXPECT_EQ(category_of(memset, Fill::kUnknown), "memset (value unknown)");
  EXPECT_EQ(category_of({kProgram, kMain, kMemset, kFault}, Fill::kOther), "page faults");
}

TEST(ProfileJson, CountsOnlyZerosAsZeroing) {
  ProfileData made;
  made.stacks = {{{kProgram, kMain, kMemset}, 10}, {{kProgram, kMain, kMemset, kFault}, 20}};
  made.kinds = {{{kProgram, kMain, kMemset}, {1, 7, 0}}, {{kProgram, kMain, kMemset, kFault}, {2, 15, 0}}};
  made.samples = 30;
  made.sees_kernel = true;
  const Profile found = result_of(made);
  const Json profile = profile_json(found);
  EXPECT_EQ(category(profile, "zeroing").at("samples"), 1);
  EXPECT_EQ(category(profile, "filling").at("samples"), 7);
  EXPECT_EQ(category(profile, "memset (value unknown)").at("samples"), 2);
  const Json& faults = category(profile, "page faults");
  EXPECT_EQ(faults.at("samples"), 20);
  EXPECT_EQ(faults.at("while_zeroing"), 2);
  EXPECT_EQ(faults.at("while_filling"), 15);
  EXPECT_EQ(faults.at("while_in_memset_of_unknown_value"), 3);
  EXPECT_NE(profile_text(found).find("10.0 % of them taken by zeroing, 75.0 % by filling with other bytes, 15.0 % by "
                                     "memset (value unknown)"),
            std::string::npos)
      << profile_text(found);
}

TEST(ProfileJson, SaysWhatShareOfTheCpuTimeWentUnseen) {
  ProfileSubject made = subject();
  made.hz = 100;
  made.user_s = 3;
  made.system_s = 1;
  const Profile found = profile_result(made, data(), Json::object());
  const Json profile = profile_json(found);
  EXPECT_DOUBLE_EQ(profile.at("unseen").at("share").get<double>(), 0.75);
  EXPECT_TRUE(is_mostly_unseen(found));
  const std::string text = profile_text(found);
  EXPECT_NE(text.find("75.0 % of its CPU time was not sampled"), std::string::npos) << text;
  EXPECT_NE(profile.at("unseen").at("remedy").get<std::string>().find("as root"), std::string::npos);
  EXPECT_LT(text.find("was not sampled"), text.find("no call tree"));
  EXPECT_EQ(text.find("Call graph"), std::string::npos);
}

TEST(ProfileJson, DoesNotJudgeByAFewSamples) {
  ProfileSubject made = subject();
  made.user_s = 0.01;
  EXPECT_TRUE(is_not_available(profile_json(profile_result(made, ProfileData{}, Json::object())).at("unseen")));
  EXPECT_TRUE(is_not_available(made_json(data()).at("unseen"))) << "no CPU time at all";
  made.user_s = 0.09;  // the samples exceed the CPU time, so the unseen share is 0, not negative
  EXPECT_EQ(profile_json(profile_result(made, data(), Json::object())).at("unseen").at("share"), 0);
}

TEST(ProfileText, OfLostEventsHasTheirShareTheConsequenceAndARemedy) {
  ProfileData made = data();
  made.lost = 300;
  const Profile found = result_of(made);
  const Json profile = profile_json(found);
  EXPECT_DOUBLE_EQ(profile.at("lost_share").get<double>(), 0.75);
  const std::string text = profile_text(found);
  const std::string head = text.substr(0, text.find("Time by activity"));
  EXPECT_NE(head.find("300 events were lost, up to 75.0 % of all"), std::string::npos) << head;
  EXPECT_NE(head.find("missing"), std::string::npos);
  EXPECT_NE(head.find("--hz"), std::string::npos);
}

Frame at(const Frame& function, std::uint64_t address, std::uint64_t offset) {
  return {function.function, function.module, address, offset};
}

TEST(ProfileJson, HasATreeOfPlacesForEachThread) {
  ProfileData made = data();
  made.by_thread = true;
  ThreadProfile& thread = made.threads[{10, 11}];
  thread = {"worker", 9, {}};
  thread.stacks[{at(kMain, 0x105, 5), at(kMemset, 0x201, 1)}] = 4;
  thread.stacks[{at(kMain, 0x105, 5), at(kMemset, 0x203, 3)}] = 2;
  thread.stacks[{at(kMain, 0x109, 9), at(kMemset, 0x201, 1)}] = 3;
  const Profile found = result_of(made);
  const Json profile = profile_json(found);
  const Json& tree = profile.at("threads").at(0).at("tree");
  ASSERT_EQ(tree.size(), 2U) << "main calls memset from two places";
  EXPECT_EQ(tree.at(0).at("samples"), 6);
  EXPECT_EQ(tree.at(0).at("offset"), 5);
  EXPECT_EQ(tree.at(0).at("address"), "0x105");
  ASSERT_EQ(tree.at(0).at("children").size(), 1U) << "all innermost places are one row";
  const Json& innermost = tree.at(0).at("children").at(0);
  EXPECT_EQ(innermost.at("places"), 2);
  EXPECT_EQ(innermost.at("address"), "0x201") << "the address with the most samples";
  const std::string text = profile_text(found);
  EXPECT_NE(text.find("Thread 11: worker"), std::string::npos) << text;
  EXPECT_NE(text.find("main (in prog) + 5 [0x105]"), std::string::npos) << text;
  EXPECT_NE(text.find("+ 1,... [0x201,...]"), std::string::npos) << text;
}

TEST(ProfileJson, OfThreadsThatWaitHasACategory) {
  ProfileData made;
  const Stack waiting{kProgram, kMain, {"read", "libc.so.6"}, {"__x64_sys_read", "kernel"}};
  made.stacks = {{waiting, 5}, {{kProgram, kMain}, 2}};
  made.kinds[waiting] = {0, 0, 4};
  made.samples = 7;
  made.sees_kernel = true;
  ProfileSubject wall = subject();
  wall.wall = true;
  const Profile found = profile_result(wall, made, Json::object());
  const Json profile = profile_json(found);
  EXPECT_EQ(category(profile, "waiting").at("samples"), 4);
  EXPECT_EQ(category(profile, "other kernel").at("samples"), 1);
  EXPECT_EQ(profile.at("method").at("event"), "wall-clock");
}

TEST(ProfileText, FitsItsColumnsAndLeavesOutSmallBranches) {
  ProfileData made = data();
  made.stacks[{kProgram, kMain, {std::string(200, 'x'), "lib.so"}}] = 20;
  made.samples += 20;
  const std::string text = profile_text(result_of(made), 80, 0.05);
  std::istringstream lines(text);
  // In UTF-8, all bytes of a character except the first are 0x80 to 0xbf.
  const auto begins_character = [](char each) { return (static_cast<unsigned char>(each) & 0xc0U) != 0x80; };
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(std::count_if(line.begin(), line.end(), begins_character), 80) << line;
  }
  EXPECT_NE(text.find("./prog word"), std::string::npos);
  EXPECT_NE(text.find("in branches below 5 %"), std::string::npos) << text;
  const std::string tree = text.substr(text.find("Call graph"), text.find("Sort by") - text.find("Call graph"));
  EXPECT_EQ(tree.find("ksys_read"), std::string::npos);
  EXPECT_NE(tree.find("clear_page_erms (in kernel)"), std::string::npos);
}

TEST(ProfileText, SaysThatThereWasNothing) {
  EXPECT_NE(profile_text(result_of(ProfileData{})).find("no samples"), std::string::npos);
}

TEST(FoldedStacks, AreOneLineEachWithKernelFramesMarked) {
  ProfileData made;
  made.stacks = {{{kProgram, {"f", "prog"}, kFault}, 3}};
  EXPECT_EQ(folded_text(folded_stacks(made)), "prog;f;asm_exc_page_fault_[k] 3\n");
  EXPECT_EQ(folded_text(folded_stacks(made, 10)), "prog;f;asm_exc_page_fault_[k] 30\n");
}

}  // namespace
}  // namespace zerotax::profile
