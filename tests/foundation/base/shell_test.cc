#include "base/shell.h"

#include <gtest/gtest.h>

namespace zerotax {
namespace {

TEST(Shell, QuotesWhatAShellWouldReadOtherwise) {
  EXPECT_EQ(shell_text({"zerotax", "--env", "a:K=v,w", "./my lib.so", "it's", ""}),
            "zerotax --env a:K=v,w './my lib.so' 'it'\\''s' ''");
}

}  // namespace
}  // namespace zerotax
