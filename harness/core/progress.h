#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace zerotax {

/// Progress on standard error, with an estimate of what is left: on a terminal one line drawn over, elsewhere a plain
/// line every ten seconds. Says nothing in the first two seconds, so that short work stays silent.
class Progress {
 public:
  /// `weight` is the whole work in any unit of expected time.
  Progress(std::string what, std::size_t items, double weight);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// One item of some weight is done; `now` says what comes next.
  void advance(double weight);
  void show(const std::string& now);
  /// Wipes the line, so that other output can be written.
  void clear();

 private:
  [[nodiscard]] std::string estimate() const;

  std::string what_;
  std::size_t items_;
  std::size_t done_ = 0;
  double weight_;
  double done_weight_ = 0;
  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point shown_;
};

/// "8 s", "2 min 05 s", "1 h 10 min".
std::string format_duration(double seconds);

}  // namespace zerotax
