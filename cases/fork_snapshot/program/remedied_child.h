#pragma once

#include <string>

#include "forked_child.h"

namespace snapshot {

/// As fork; and when the child has ended, a helper thread makes the parent's pages writable again, so that the writers
/// need not do it by a fault each.
class RemediedChild : public ForkedChild {
 public:
  void after_end(Job& job) override;
  [[nodiscard]] const Helper* helper() const override { return &helper_; }

 protected:
  /// On the helper thread. Returns the bytes that it could not do anything for.
  virtual std::uint64_t make_writable(const Job& job) = 0;

 private:
  Helper helper_;
};

/// Lets one call make writable all pages of a range (MADV_POPULATE_WRITE, Linux 5.14). Returns whether it did.
bool populate_for_writing(void* begin, std::uint64_t bytes);

/// Why the kernel does not do that; empty if it does.
std::string why_no_populating();

}  // namespace snapshot
