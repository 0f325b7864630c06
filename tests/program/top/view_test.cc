#include "top/view.h"

#include <gtest/gtest.h>

#include "os/terminal.h"
#include "small_pages.h"
#include "top/prometheus.h"
#include "top/result.h"
#include "top/ui.h"

namespace zerotax::top {
namespace {

Usage usage(pid_t pid, const std::string& name, std::uint64_t faults) {
  Usage made;
  made.pid = pid;
  made.start_ticks = 1;
  made.name = name;
  made.uid = 4'000'000'000U + static_cast<uid_t>(pid % 2);  // no user has this ID
  made.cgroup = "/slice/" + name;
  made.minor_faults = faults;
  made.zeroed_at_most_bytes = faults * 4096;
  made.refilled_at_most_bytes = faults * 1024;
  made.cpu_ns = static_cast<std::int64_t>(faults) * 2000;
  made.fault_cpu_estimated_ns = static_cast<std::int64_t>(faults) * 500;
  made.fault_cpu_share = 0.25;
  made.resident_bytes = static_cast<std::uint64_t>(pid) << 20;
  made.huge_bytes = 0;
  return made;
}

Sample sample() {
  Sample made;
  made.time = "2026-11-26T07:48:36Z";
  made.interval_s = 2;
  made.fault_cost_ns = 500.0;
  made.machine.faults = 1000;
  made.machine.unseen_share = 0.125;
  made.processes = 4;
  made.rows = {usage(1, "init", 0), usage(7, "server", 200), usage(8, "server", 300), usage(9, "Client", 300)};
  return made;
}

std::vector<pid_t> pids(const Sample& sample) {
  std::vector<pid_t> found;
  for (const Usage& row : sample.rows) found.push_back(row.pid.value_or(0));
  return found;
}

Sample arranged(View view, std::size_t rows = 100) {
  Sample made = sample();
  Users users;
  view.rows = rows;
  arrange(made, view, users);
  return made;
}

TEST(View, EqualRowsKeepTheirOrder) { EXPECT_EQ(pids(arranged({})), (std::vector<pid_t>{8, 9, 7, 1})); }

TEST(View, EachColumnSorts) {
  View view;
  view.sort = Sort::kPid;
  EXPECT_EQ(pids(arranged(view)), (std::vector<pid_t>{1, 7, 8, 9}));
  view.sort = Sort::kRss;
  EXPECT_EQ(pids(arranged(view)), (std::vector<pid_t>{9, 8, 7, 1}));
}

TEST(View, RowsThatAreLeftOutAreCounted) {
  const Sample cut = arranged({}, 1);
  EXPECT_EQ(pids(cut), (std::vector<pid_t>{8}));
  EXPECT_EQ(cut.rows_left_out, 3U);
}

TEST(View, AFilterLooksAtCommandUserAndCgroup) {
  View view;
  view.filter = "CLIENT";
  EXPECT_EQ(pids(arranged(view)), (std::vector<pid_t>{9}));
  view.filter = "slice/serv";
  EXPECT_EQ(pids(arranged(view)), (std::vector<pid_t>{8, 7}));
  view.filter = "4000000000";
  EXPECT_EQ(pids(arranged(view)), (std::vector<pid_t>{8}));
}

TEST(View, GroupsAreSums) {
  ONLY_WITH_SMALL_PAGES();
  View view;
  view.by = By::kCommand;
  const Sample groups = arranged(view);
  ASSERT_EQ(groups.rows.size(), 3U);
  const Usage& server = groups.rows.at(0);
  EXPECT_EQ(server.name, "server");
  EXPECT_EQ(server.processes, 2U);
  EXPECT_EQ(server.minor_faults, 500U);
  EXPECT_EQ(server.zeroed_at_most_bytes, 500U * 4096);
  EXPECT_EQ(*server.refilled_at_most_bytes, 500U * 1024);
  EXPECT_DOUBLE_EQ(*server.fault_cpu_share, 0.25);
  EXPECT_EQ(server.resident_bytes, std::uint64_t{15} << 20);
  EXPECT_FALSE(server.pid);
}

TEST(View, AGroupIsRefilledByTheMembersThatAreKnown) {
  Sample made = sample();
  made.rows.at(1).refilled_at_most_bytes = NotAvailable{"new"};
  made.rows.at(3).refilled_at_most_bytes = NotAvailable{"new"};
  View view;
  view.by = By::kCommand;
  view.rows = 9;
  Users users;
  arrange(made, view, users);
  EXPECT_EQ(*made.rows.at(0).refilled_at_most_bytes, 300U * 1024);
  EXPECT_FALSE(made.rows.at(1).refilled_at_most_bytes) << "all members are unknown";
}

TEST(TopTable, LinesFitAnyTerminal) {
  Sample wide = sample();
  wide.rows.at(1).name = std::string(300, 'x');
  wide.rows.at(1).minor_faults = 123'456'789'012;
  wide.limits = {std::string(300, 'y')};
  for (const std::size_t columns : {1, 20, 79, 80, 100, 200}) {
    std::istringstream text(top_text(wide, columns));
    for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), columns + 32) << line;
  }
}

TEST(TopTable, RatesAreOfASecondAndSharesAreWhole) {
  const std::string text = top_text(arranged({}, 1), 80);
  EXPECT_NE(text.find("machine: 500 faults/s"), std::string::npos) << text;
  EXPECT_NE(text.find("unseen: 12.5 % of the machine's faults"), std::string::npos) << text;
  EXPECT_NE(text.find("      8       150   600 KiB   150 KiB   25 %   0 % "), std::string::npos) << text;
}

TEST(Prometheus, SumsGrowAndLabelsAreEscaped) {
  Sample made = sample();
  made.rows = {usage(7, "a\"b\\c\nd", 10), usage(8, "a\"b\\c\nd", 5)};
  Prometheus sums(By::kProcess);
  sums.add(made);
  sums.add(made);
  const std::string text = sums.text(1'000);
  EXPECT_NE(text.find("zerotax_minor_faults_total{command=\"a\\\"b\\\\c\\\\nd\"} 30\n"), std::string::npos) << text;
  EXPECT_NE(text.find("zerotax_machine_faults_total 2000\n"), std::string::npos) << text;
  EXPECT_NE(text.find("zerotax_top_samples_total 2\n"), std::string::npos) << text;
}

TEST(Prometheus, TheNumberOfGroupsIsBounded) {
  Sample made = sample();
  made.rows.clear();
  for (int i = 1; i <= 3000; ++i) made.rows.push_back(usage(i, "command " + std::to_string(i), 1));
  Prometheus sums(By::kCommand);
  sums.add(made);
  const std::string text = sums.text(0);
  EXPECT_NE(text.find("zerotax_minor_faults_total{command=\"(others)\"} 2500\n"), std::string::npos);
}

class Keys : public ::testing::Test {
 protected:
  Keys() { ui_.show(sample()); }
  std::string screen(std::size_t rows = 24) {
    return ui_.screen(80, rows, [](Sample&) {});
  }
  Ui ui_{View{}, true};
};

TEST_F(Keys, SortGroupFilterAndQuit) {
  screen();
  EXPECT_TRUE(ui_.press('m'));
  EXPECT_EQ(ui_.view().sort, Sort::kRss);
  for (const By by : {By::kUser, By::kCgroup, By::kCommand, By::kProcess}) {
    ui_.press('b');
    EXPECT_EQ(ui_.view().by, by);
  }
  for (const int key : {static_cast<int>('/'), static_cast<int>('q'), static_cast<int>('x'), key::kErase}) {
    EXPECT_TRUE(ui_.press(key)) << "typed, not obeyed";
  }
  EXPECT_EQ(ui_.view().filter, "q");
  ui_.press(key::kEnter);
  EXPECT_EQ(ui_.view().filter, "q");
  ui_.press(key::kEscape);
  EXPECT_EQ(ui_.view().filter, "");
  EXPECT_FALSE(ui_.press('q'));
}

TEST_F(Keys, AGroupOpensToItsProcesses) {
  ui_.press('b');
  ui_.press('b');
  ui_.press('b');
  screen();
  ui_.press(key::kEnter);
  EXPECT_EQ(ui_.view().by, By::kProcess);
  EXPECT_EQ(ui_.view().members->second, "server");
  const std::string text = screen();
  EXPECT_NE(text.find(" server"), std::string::npos);
  EXPECT_EQ(text.find("Client"), std::string::npos);
}

TEST_F(Keys, TheSelectionStaysOnTheScreen) {
  screen();
  for (int i = 0; i < 50; ++i) ui_.press(key::kDown);
  EXPECT_NE(screen().find("\x1b[7m      1 "), std::string::npos);
  for (int i = 0; i < 50; ++i) ui_.press(key::kUp);
  EXPECT_NE(screen().find("\x1b[7m      8 "), std::string::npos);
}

TEST_F(Keys, NoScreenHasMoreLinesThanTheTerminal) {
  for (std::size_t rows = 1; rows < 30; ++rows) {
    const std::string text = screen(rows);
    EXPECT_LT(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), rows);
  }
}

}  // namespace
}  // namespace zerotax::top
