#include <gtest/gtest.h>

#include <algorithm>

#include "fork/model.h"
#include "fork/sections.h"

namespace zerotax::fork {
namespace {

/// The cost of a fork in an invented kernel, in nanoseconds.
double known_ns(const ForkTargetFacts& facts) {
  return 20'000.0 + 60.0 * static_cast<double>(facts.pages) + 550.0 * static_cast<double>(facts.huge_pages) +
         900.0 * static_cast<double>(facts.mappings - 2 * (facts.threads - 1)) +
         5.0 * static_cast<double>(facts.descriptors) + 400.0 * static_cast<double>(facts.threads - 1);
}

ForkPlace place(const char* sweep, const ForkTargetFacts& facts, double noise = 0) {
  const double ns = known_ns(facts);
  return {sweep, {}, facts, {ns * (1 - noise), ns, ns * (1 + noise)}, {}};
}

std::vector<ForkPlace> places(double noise, bool huge = true) {
  std::vector<ForkPlace> found{place("base", {11, 0, 13, 4, 1}, noise)};
  for (const std::uint64_t pages : {300, 5'000, 70'000, 2'000'000}) {
    found.push_back(place("pages", {pages, 0, 14, 4, 1}, noise));
  }
  if (huge) {
    for (const std::uint64_t pages : {32, 512}) found.push_back(place("huge", {11, pages, 14, 4, 1}, noise));
  }
  for (const std::uint64_t mappings : {100, 3'000}) {
    found.push_back(place("mappings", {mappings, 0, mappings + 13, 4, 1}, noise));
  }
  for (const std::uint64_t descriptors : {64, 4'096}) {
    found.push_back(place("descriptors", {11, 0, 13, descriptors, 1}, noise));
  }
  for (const std::uint64_t threads : {9, 129}) {
    found.push_back(place("threads", {11 + threads, 0, 13 + 2 * (threads - 1), 4, threads}, noise));
  }
  found.push_back(place("held back", {100'000, 0, 500, 100, 33}, noise));
  return found;
}

TEST(ForkModel, FindsTheCostsOfAKernelThatIsKnown) {
  const std::vector<ForkPlace> all = places(0.02);
  const ForkModel model = fit_fork_model(all);
  ASSERT_EQ(model.not_fitted, "");
  const double expected[] = {20'000, 60, 550, 900, 5, 400};
  for (std::size_t i = 0; i < kForkTerms; ++i) {
    EXPECT_NEAR(model.ns[i], expected[i], 1e-6 * expected[i]) << word(static_cast<ForkTerm>(i));
    EXPECT_TRUE(model.known[i]);
    EXPECT_LE(model.interval[i].low, expected[i]);
    EXPECT_GE(model.interval[i].high, expected[i]);
    EXPECT_LT(model.interval[i].low, model.interval[i].high);
  }
  EXPECT_NEAR(model.r_squared, 1, 1e-9);
}

TEST(ForkModel, OneRoundHasNoInterval) {
  std::vector<ForkPlace> all = places(0.02);
  EXPECT_EQ(fit_fork_model(all).no_interval, "");
  all.front().round_ns.resize(1);
  EXPECT_EQ(fit_fork_model(all).no_interval, "one round shows no spread");
}

TEST(ForkModel, PredictsWhatItWasNotFittedTo) {
  std::vector<ForkPlace> all = places(0);
  all.back().round_ns = {2 * known_ns(all.back().facts)};  // must change only the error of this prediction, not the fit
  const ForkModel model = fit_fork_model(all);
  ASSERT_EQ(model.held.size(), 1U);
  EXPECT_NEAR(model.held[0].predicted_ns, known_ns(all.back().facts), 1);
  EXPECT_NEAR(model.held[0].error(), -0.5, 1e-6);
  EXPECT_EQ(model.fit.size(), all.size() - 1);
}

TEST(ForkModel, ASmallProcessCountsAsMuchAsALargeOne) {
  std::vector<ForkPlace> all = places(0);
  // Pages cost a tenth more in the process with 8 GB, as with slower memory. The time of the base process is still
  // predicted within a few percent.
  for (double& ns : all[4].round_ns) ns *= 1.1;
  const ForkModel model = fit_fork_model(all);
  EXPECT_NEAR(model.fit[0].error(), 0, 0.03);
  EXPECT_LT(model.r_squared, 1);
}

TEST(ForkModel, WithoutHugePagesTheyAreNotKnownAndTheRestIs) {
  const std::vector<ForkPlace> all = places(0, false);
  const ForkModel model = fit_fork_model(all);
  ASSERT_EQ(model.not_fitted, "");
  EXPECT_FALSE(model.known[2]);
  EXPECT_NEAR(model.ns[1], 60, 1e-6);
}

TEST(ForkModel, ASweepThatIsNotOverIsNotFitted) {
  std::vector<ForkPlace> all = places(0);
  all[5].round_ns.clear();
  EXPECT_NE(fit_fork_model(all).not_fitted, "");
  EXPECT_NE(fit_fork_model({}).not_fitted, "");
}

std::string section(const std::vector<std::string>& stack) { return fork_sections()[section_of(stack)].name; }

TEST(ForkSections, TheOutermostFunctionThatIsKnownDecides) {
  EXPECT_EQ(section({"copy_process", "dup_fd", "kmem_cache_alloc_noprof"}), "descriptors");
  EXPECT_EQ(section({"copy_process", "alloc_pid", "idr_alloc_cyclic"}), "process number");
  EXPECT_EQ(section({"copy_process", "copy_thread", "fpu_clone"}), "registers and FPU");
  EXPECT_EQ(section({"wake_up_new_task", "_raw_spin_unlock_irqrestore"}), "scheduling, wake-up");
  EXPECT_EQ(section({"copy_process", "memcg_charge_kernel_stack.part.0", "try_charge"}), "task and kernel stack");
  EXPECT_EQ(section({"copy_process", "perf_event_init_task"}), "observers");
}

TEST(ForkSections, PageTablesAreAPartOfTheirOwnWithinTheMappings) {
  EXPECT_EQ(section({"copy_process", "dup_mmap", "copy_page_range", "__pte_alloc"}), "page tables");
  EXPECT_EQ(section({"copy_process", "copy_mm", "dup_mm.constprop.0", "dup_mmap", "copy_page_range"}), "page tables");
  EXPECT_EQ(section({"copy_process", "dup_mmap", "anon_vma_fork"}), "mappings");
  EXPECT_EQ(section({"copy_process", "copy_mm", "dup_mmap", "mas_store"}), "mappings");
  EXPECT_EQ(section({"copy_process", "mm_init", "pgd_alloc"}), "address space");
  // All functions that dup_mmap calls for a mapping belong to the mappings, even if they belong to another section in
  // other callers.
  EXPECT_EQ(section({"copy_process", "dup_mmap", "security_vm_enough_memory_mm"}), "mappings");
}

TEST(ForkSections, WhatHasNoNameOfItsOwnIsTheRest) {
  EXPECT_EQ(section({"copy_process", "_raw_spin_lock"}), "rest (signals, locks)");
  EXPECT_EQ(section({}), "rest (signals, locks)");
}

TEST(ForkSections, EachHasItsPlaceInThePapersTable) {
  double sum = 0;
  for (const CasperRow& row : casper_table()) sum += row.section == "Total fork" ? -row.ms : row.ms;
  EXPECT_NEAR(sum, 0, 0.001);
  for (const ForkSection& found : fork_sections()) {
    const bool there = std::any_of(casper_table().begin(), casper_table().end(),
                                   [&](const CasperRow& row) { return row.section == found.casper; });
    EXPECT_EQ(there, found.name != std::string("observers")) << found.name;
  }
}

}  // namespace
}  // namespace zerotax::fork
