#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace zerotax {

/// Progress on standard error, with an estimate of the remaining time. On a terminal, one line is updated in place.
/// Elsewhere, and on a dumb terminal, a plain line appears every ten seconds. Nothing appears in the first second (two
/// seconds without a terminal), so that short work stays silent. Afterwards the line is updated in the background,
/// however long an item takes. Thread-safe.
class Progress {
 public:
  /// `weight` is the expected duration of all work, in any unit.
  Progress(std::string what, std::size_t items, double weight);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Adds work that was not known at the start.
  void add(std::size_t items, double weight);
  /// Notes that an item of this weight is done. show() then names the next item.
  void advance(double weight);
  void show(const std::string& now);
  /// Erases the line, so that other output can be written.
  void clear();

 private:
  [[nodiscard]] std::string estimate() const;
  void draw();
  void draw_by_itself(const std::stop_token& stop);

  std::mutex lock_;
  std::condition_variable_any ends_;
  std::string what_;
  std::size_t items_;
  std::size_t done_ = 0;
  double weight_;
  double done_weight_ = 0;
  bool terminal_;
  std::string now_;
  bool drawn_ = false;
  bool grew_ = false;  ///< whether the total grew after it was shown, so that no total is shown any more
  bool wiped_ = true;  ///< whether other output may be on the line, so that nothing is drawn until show() is called
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point advanced_;  ///< time at which the last item was done
  std::chrono::steady_clock::time_point shown_;
  std::jthread drawer_;  ///< last member, so that the thread ends first
};

/// Formats a duration as in "8 s", "2 min 05 s" or "1 h 10 min".
std::string format_duration(double seconds);

}  // namespace zerotax
