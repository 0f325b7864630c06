#pragma once

#include <set>
#include <string>
#include <vector>

#include "observe/symbols.h"

namespace zerotax::trace {

/// The filters' decision about one function.
struct FunctionChoice {
  bool begins = true;  ///< whether the function and all functions that it calls are selected
  bool ends = false;   ///< whether the function and all functions that it calls are left out
  bool shown = true;   ///< whether the function's file is selected
};

struct Filters {
  RESULT("filters",
         "The selected functions, by name or by the file that contains them. A name selects the function and all "
         "functions that it calls. Names may contain *, ? and [...] (fnmatch(3)).");
  FIELD(std::vector<std::string>, functions, "Names of functions to list, together with the functions that they call.");
  FIELD(std::vector<std::string>, not_functions,
        "Names of functions to leave out, together with the functions that they call.");
  FIELD(std::vector<std::string>, objects, "Programs and libraries whose functions are listed.");
  FIELD(std::vector<std::string>, not_objects, "Programs and libraries whose functions are left out.");
  [[nodiscard]] bool empty() const {
    return functions.empty() && not_functions.empty() && objects.empty() && not_objects.empty();
  }
};

class FunctionFilter : public Filters {
 public:
  /// Decides whether to show the function of a frame, and remembers which patterns matched its names.
  FunctionChoice choose(const NamedFrame& frame);

  /// Throws UsageError if a pattern matched no function, unless the trace has no functions at all.
  void check_all_matched() const;

 private:
  bool matches(const std::vector<std::string>& names, const std::vector<std::string>& candidates);
  void check_matched(const char* option, const char* mark, const char* what, const std::vector<std::string>& names,
                     const std::set<std::string>& known) const;

  std::vector<std::string> matched_;
  std::set<std::string> known_functions_;
  std::set<std::string> known_objects_;
};

/// Returns a C++ function's name as a user would type it: "ns::f" for "ns::f(int) const".
std::string without_parameters(const std::string& function);

}  // namespace zerotax::trace
