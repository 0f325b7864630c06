#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace zerotax {

/// Progress on standard error, with an estimate of what is left: on a terminal one line drawn over, elsewhere (on a
/// dumb terminal, too) a plain line every ten seconds. Says nothing in the first second (elsewhere two), so that short
/// work stays silent; from then on it draws by itself, however long an item takes. Its functions may be called from
/// several threads.
class Progress {
 public:
  /// `weight` is the whole work in any unit of expected time.
  Progress(std::string what, std::size_t items, double weight);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// More work than was known at the start.
  void add(std::size_t items, double weight);
  /// One item of some weight is done; `now` says what comes next.
  void advance(double weight);
  void show(const std::string& now);
  /// Wipes the line, so that other output can be written.
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
  bool grew_ = false;  ///< the total grew after it was shown: no total is shown any more
  bool wiped_ = true;  ///< something else may stand there now: nothing is drawn until show()
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point advanced_;  ///< when the last item was done
  std::chrono::steady_clock::time_point shown_;
  std::jthread drawer_;  ///< the last member: it ends first
};

/// "8 s", "2 min 05 s", "1 h 10 min".
std::string format_duration(double seconds);

}  // namespace zerotax
