#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "os/child.h"

/// A session of LTTng for one benchmark: its own session daemon, with buffers that can contain all records. The session
/// ends with the object.
class LttngSession {
 public:
  explicit LttngSession(std::string folder);
  ~LttngSession();
  LttngSession(const LttngSession&) = delete;
  LttngSession& operator=(const LttngSession&) = delete;

  /// Returns why the session could not be started; empty if it runs.
  [[nodiscard]] const std::string& why_not() const { return why_not_; }
  /// Returns the variables for a program to trace.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> environment() const;

 private:
  bool lttng(const std::vector<std::string>& words);
  void begin();

  std::string folder_;
  std::string why_not_;
  std::atomic<bool> stop_{false};
  std::thread daemon_;
};
