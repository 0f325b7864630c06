#pragma once

#include <cstdint>

#include "snapshot/process/forked_child.h"

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

}  // namespace snapshot
