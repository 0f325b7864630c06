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

/// Return the words of --by and --sort, in the order of their enums.
const std::vector<std::string>& by_words();
const std::vector<std::string>& sort_words();
/// Return the enum value for a word of --by or --sort.
By by_of(const std::string& word);
Sort sort_of(const std::string& word);

/// The rows to show, and their order.
struct View {
  By by = By::kProcess;
  Sort sort = Sort::kFaults;
  std::string filter;  ///< text to find in a command, user or cgroup, ignoring case
  std::size_t rows = 0;
  std::vector<pid_t> pids;                            ///< shows only these PIDs unless empty
  std::optional<std::pair<By, std::string>> members;  ///< shows only the processes of this group
};

/// User names, each looked up once (getpwuid(3)). A user without a name is shown as a number.
class Users {
 public:
  const std::string& name(uid_t uid);

 private:
  std::map<uid_t, std::string> names_;
};

/// Returns the name of the group that a process belongs to.
std::string group_name(const Usage& usage, By by);

/// Names the users of the rows, then filters, groups, sorts and cuts the rows.
void arrange(Sample& sample, const View& view, Users& users);

}  // namespace zerotax::top
