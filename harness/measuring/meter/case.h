#pragma once

#include <cstddef>

#include "meter/meter.h"

namespace zerotax {

/// One operation of a case is what a program repeats; the probe repeats it `ops` times in each pass.
struct Case {
  const char* name;     ///< as in --case
  const char* summary;  ///< one line for `zerotax list`
  /// Returns false when the allocator gave no memory, or after Meter::fail.
  bool (*operation)(Meter& meter, const Request& request);
  /// What must be there before the first operation, as a connection: on the thread of the operations, before any meter
  /// is made. Returns nullptr, or why it failed: a text that stays. May allocate, but no large block: the first one of
  /// the process is operation 1.
  const char* (*begin)(const Request& request) = nullptr;
  /// After the last operation, if `begin` succeeded.
  void (*end)() = nullptr;
  /// Whether operations call Meter::end_receive: then bytes received are a metric of the point.
  bool receives = false;
  /// Whether operations call Meter::fork_and_write: then there is a faults pass, and the fork has metrics of the point.
  bool forks = false;
  /// Whether Meter::allocate is malloc for this case, and not calloc.
  bool mallocs = false;
  /// How many times the block's size an operation needs of memory at most.
  double memory = 1;
};

/// Registers a case: one static object of this kind in cases/<name>/case.cc is all that a new case needs.
class CaseRegistration {
 public:
  explicit CaseRegistration(const Case& registered);

 private:
  friend const Case* find_case(const char* name);
  friend void for_each_case(void (*visit)(const Case&));
  const Case& case_;
  const CaseRegistration* next_;
};

/// The case of this name, or nullptr.
const Case* find_case(const char* name);
void for_each_case(void (*visit)(const Case&));

}  // namespace zerotax
