#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "top/result.h"

namespace zerotax::top {

/// The words of --by and --sort, in the order of their enums.
const std::vector<std::string>& by_words();
const std::vector<std::string>& sort_words();
/// The value of one of these words.
By by_of(const std::string& word);
Sort sort_of(const std::string& word);

/// Which rows somebody wants to see, and in which order.
struct View {
  By by = By::kProcess;
  Sort sort = Sort::kFaults;
  std::string filter;  ///< part of a command, user or cgroup, in any case
  std::size_t rows = 0;
  std::vector<pid_t> pids;                            ///< only these; empty: all
  std::optional<std::pair<By, std::string>> members;  ///< only the processes of this group
};

/// Names of users, asked for once each (getpwuid(3)); the number where there is no name.
class Users {
 public:
  const std::string& name(uid_t uid);

 private:
  std::map<uid_t, std::string> names_;
};

/// The group of a process.
std::string group_name(const Usage& usage, By by);

/// Names users, groups, filters, sorts and cuts the rows. `fault_ns` as of the account.
void arrange(Sample& sample, const View& view, Users& users);

}  // namespace zerotax::top
