#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "top/details.h"
#include "top/result.h"
#include "top/view.h"

namespace zerotax::top {

/// What the keys do, and what is on the screen. It neither reads keys nor writes to a terminal.
class Ui {
 public:
  /// `keys`: there are some.
  Ui(View view, bool keys) : view_(std::move(view)), keys_(keys) {}

  /// Takes a key (os/terminal.h). False: end.
  bool press(int key);
  /// A new interval, with all its rows.
  void show(Sample sample);
  /// The screen: at most `rows` lines of at most `columns` characters, line breaks between them.
  /// `complete` adds to the rows that are shown what is too expensive for all.
  std::string screen(std::size_t columns, std::size_t rows, const std::function<void(Sample&)>& complete);

  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] bool in_details() const { return details_ != nullptr; }

 private:
  bool press_list(int key);
  void press_filter(int key);
  void press_details(int key);
  void open();
  void select(std::ptrdiff_t step);
  [[nodiscard]] std::string keys_line() const;

  View view_;
  bool keys_;
  std::optional<Sample> sample_;  ///< all rows
  std::vector<Usage> shown_;      ///< as last on the screen
  std::size_t selected_ = 0;
  bool typing_ = false;
  std::unique_ptr<DetailsWatch> details_;
  std::optional<Details> detail_;
  Users users_;
};

}  // namespace zerotax::top
