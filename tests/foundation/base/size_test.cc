#include "base/size.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/units.h"

namespace zerotax {
namespace {

TEST(Size, ReadsBytesAndEveryUnit) {
  EXPECT_EQ(parse_size("1"), 1U);
  EXPECT_EQ(parse_size("104857600"), 104857600U);
  EXPECT_EQ(parse_size("7B"), 7U);
  EXPECT_EQ(parse_size("127KiB"), 130048U);
  EXPECT_EQ(parse_size("100MiB"), 104857600U);
  EXPECT_EQ(parse_size("2GiB"), 2147483648U);
  EXPECT_EQ(parse_size("3kB"), 3000U);
  EXPECT_EQ(parse_size("100MB"), 100000000U);
  EXPECT_EQ(parse_size("1GB"), 1000000000U);
  EXPECT_EQ(parse_size("1.5 MiB"), 1572864U);
}

TEST(Size, RefusesWhatIsNoSizeAndSaysWhatToGive) {
  for (const char* text : {"", "MiB", "100Mib", "10XB", "-1", "0", "0KiB", "1e3", "1.2.3", "nan", "0.3", "1.0001KiB",
                           "200000GiB", "140737488355328", "99999999999999999999999999", " 5", "5 5"}) {
    try {
      parse_size(text);
      ADD_FAILURE() << "'" << text << "' was taken";
    } catch (const UsageError& failure) {
      EXPECT_EQ(failure.status(), ExitStatus::kUsage);
      EXPECT_NE(failure.remedy().find("100MiB"), std::string::npos) << text;
    }
  }
}

TEST(Size, AsksWhatAnAmbiguousUnitMeans) {
  const auto asked = [](const char* text) -> std::string {
    try {
      parse_size(text);
    } catch (const UsageError& failure) {
      return failure.remedy().substr(0, failure.remedy().find("give bytes"));
    }
    return "taken";
  };
  EXPECT_EQ(asked("100M"), "did you mean 100MiB or 100MB? ");
  EXPECT_EQ(asked("1g"), "did you mean 1GiB or 1GB? ");
  EXPECT_EQ(asked("1.5k"), "did you mean 1.5KiB or 1.5kB? ");
  EXPECT_EQ(asked("100mib"), "did you mean 100MiB? ");
  EXPECT_EQ(asked("1Mi"), "did you mean 1MiB? ");
  EXPECT_EQ(asked("100mb"), "did you mean 100MB? ");
  EXPECT_EQ(asked("1KB"), "did you mean 1kB? ");
  EXPECT_EQ(asked("1XB"), "");
}

TEST(Size, IsWrittenExactlyWhereAUnitDividesItAndRoundedElsewhere) {
  EXPECT_EQ(format_size(1), "1 B");
  EXPECT_EQ(format_size(1023), "1023 B");
  EXPECT_EQ(format_size(64 * kKiB), "64 KiB");
  EXPECT_EQ(format_size(130049), "127 KiB");
  EXPECT_EQ(format_size(100 * kMiB), "100 MiB");
  EXPECT_EQ(format_size(kGiB), "1 GiB");
  EXPECT_EQ(format_size(kMiB + kMiB / 4), "1.25 MiB");
  EXPECT_EQ(format_size(20 * kMiB + 8), "20.0 MiB");
}

}  // namespace
}  // namespace zerotax
