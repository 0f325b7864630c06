#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "baseline/program.h"
#include "bisect/condition.h"
#include "bisect/expectation.h"

namespace zerotax::bisect {

/// A sentence that is true or false of a version of a program: "page_faults <= 2000".
///
///   METRIC              of the command as a whole, by its key (docs/check_program.md) or its name, with _ for blanks
///   METRIC of NAME      of its processes of this name
///   NUMBER in FUNCTION  of the call stacks whose innermost function this is: calls, requested_bytes,
///                       kernel_zeroed_bytes, refilled_bytes, returned_bytes or zeroed_bytes
///
/// Then one of == != < <= > >= and a number or a size.
class ProgramExpectation {
 public:
  /// Throws UsageError for any other text.
  static ProgramExpectation parse(const std::string& text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// What is true of a version whose runs are these: of every value that they showed.
  [[nodiscard]] Observed observe(const baseline::Program& program) const;

 private:
  [[nodiscard]] Measured<Range> range_in(const baseline::Program& program) const;
  [[nodiscard]] Unit unit() const;

  std::string text_;
  std::string name_;  ///< of its subject, for people
  const Comparison* comparison_ = nullptr;
  double number_ = 0;
  record::runs::Metric metric_{};
  std::string process_;
  std::optional<record::runs::SiteNumber> site_number_;
  std::string function_;
};

}  // namespace zerotax::bisect
