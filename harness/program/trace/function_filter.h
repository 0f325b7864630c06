#pragma once

#include <set>
#include <string>
#include <vector>

#include "observe/symbols.h"

namespace zerotax::trace {

/// What the filters say of one function.
struct FunctionChoice {
  bool begins = true;  ///< it and all that it calls are wanted
  bool ends = false;   ///< it and all that it calls are left out
  bool shown = true;   ///< it lies in a file that is wanted
};

struct Filters {
  RESULT("filters",
         "Which functions are wanted: by name with all that they call, or by the file that they are in. Names may have "
         "* and ? and [...] (fnmatch(3)).");
  FIELD(std::vector<std::string>, functions, "Only these functions and what they call.");
  FIELD(std::vector<std::string>, not_functions, "Without these functions and what they call.");
  FIELD(std::vector<std::string>, objects, "Only functions in these programs and libraries.");
  FIELD(std::vector<std::string>, not_objects, "No functions in these programs and libraries.");
  [[nodiscard]] bool empty() const {
    return functions.empty() && not_functions.empty() && objects.empty() && not_objects.empty();
  }
};

class FunctionFilter : public Filters {
 public:
  /// Of the function with this frame; remembers which names it matched.
  FunctionChoice choose(const NamedFrame& frame);

  /// Throws UsageError if a name matched none of the functions that it was asked about. Not if there were none at all.
  void check_all_matched() const;

 private:
  bool matches(const std::vector<std::string>& names, const std::vector<std::string>& candidates);
  void check_matched(const char* option, const char* mark, const char* what, const std::vector<std::string>& names,
                     const std::set<std::string>& known) const;

  std::vector<std::string> matched_;
  std::set<std::string> known_functions_;
  std::set<std::string> known_objects_;
};

/// "ns::f" of "ns::f(int) const": a C++ function's name as one would type it.
std::string without_parameters(const std::string& function);

}  // namespace zerotax::trace
