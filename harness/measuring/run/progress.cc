#include "run/progress.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <system_error>

#include "base/lines.h"
#include "base/printable.h"
#include "os/print.h"
#include "os/terminal.h"

namespace zerotax {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSilence = std::chrono::seconds(1);       // on a terminal
constexpr auto kPlainSilence = std::chrono::seconds(2);  // without a terminal, where lines are not updated
constexpr auto kPlainInterval = std::chrono::seconds(10);
constexpr auto kDrawInterval = std::chrono::milliseconds(100);

}  // namespace

std::string format_duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

Progress::Progress(std::string what, std::size_t items, double weight)
    : what_(std::move(what)),
      items_(items),
      weight_(weight),
      terminal_(can_erase(stderr)),
      start_(Clock::now()),
      advanced_(start_),
      shown_(start_) {
  try {
    drawer_ = std::jthread([this](const std::stop_token& stop) { draw_by_itself(stop); });
  } catch (const std::system_error&) {
    // The system allows no more threads, so only show() draws.
  }
}

Progress::~Progress() { clear(); }

void Progress::add(std::size_t items, double weight) {
  const std::scoped_lock held(lock_);
  grew_ = grew_ || drawn_;
  items_ += items;
  weight_ += weight;
}

void Progress::advance(double weight) {
  const std::scoped_lock held(lock_);
  ++done_;
  done_weight_ += weight;
  advanced_ = Clock::now();
}

std::string Progress::estimate() const {
  // No estimate is possible if too little is done, or if the total is unknown.
  if (grew_ || done_weight_ < weight_ * 0.01) return "";
  // The estimate counts down while the current item runs. If that item takes longer than the whole estimate, no
  // estimate is shown.
  const std::chrono::duration<double> worked = advanced_ - start_;
  const std::chrono::duration<double> since = Clock::now() - advanced_;
  const double left = worked.count() * (weight_ - done_weight_) / done_weight_ - since.count();
  return left > 0 ? fmt::format(", about {} left", format_duration(left)) : "";
}

void Progress::show(const std::string& now) {
  const std::scoped_lock held(lock_);
  now_ = now;
  wiped_ = false;
  draw();
}

void Progress::draw() {
  const auto time = Clock::now();
  if (wiped_ || time - start_ < (terminal_ ? kSilence : kPlainSilence)) return;
  if (drawn_ && time - shown_ < (terminal_ ? Clock::duration(kDrawInterval) : Clock::duration(kPlainInterval))) return;
  shown_ = time;
  drawn_ = true;
  const std::string done = grew_ ? fmt::format("{} done", done_) : fmt::format("{} of {}", done_, items_);
  const std::string line = printable(fmt::format("{}: {}{}, now {}", what_, done, estimate(), now_));
  // A failure to write progress does not stop the run.
  if (terminal_) {
    erase_line(stderr);
    try_to_print(stderr, first_characters(line, terminal_columns(stderr) - 1));
  } else {
    try_to_print(stderr, line + "\n");
  }
  std::fflush(stderr);
}

void Progress::draw_by_itself(const std::stop_token& stop) {
  std::unique_lock held(lock_);
  while (!stop.stop_requested()) {
    ends_.wait_for(held, stop, kSilence, [] { return false; });
    if (!stop.stop_requested()) draw();
  }
}

void Progress::clear() {
  const std::scoped_lock held(lock_);
  if (terminal_ && drawn_) erase_line(stderr);
  wiped_ = true;
}

}  // namespace zerotax
