#include "observe/debug_packages.h"

#include <gtest/gtest.h>

#include "temporary_folder.h"

namespace zerotax {
namespace {

using Packages = std::set<std::string>;
using DebugPackages = WithTemporaryFolder;

TEST_F(DebugPackages, AreThoseOfThePackagesThatOwnTheFiles) {
  write("libone.list", "/.\n/usr/lib/one.so\n/usr/lib/one.so.1\n");
  write("libc6:amd64.list", "/.\n/lib/libc.so.6\n");
  write("libpython3.11-minimal:amd64.list", "/.\n/usr/lib/python3.11/lib.so\n");
  write("python3-one.list", "/.\n/usr/lib/python3/one.so\n");
  write("libone.md5sums", "\n/usr/lib/two.so\n");
  const auto of = [&](const Packages& files) { return debug_packages(files, path()); };
  EXPECT_EQ(of({"/usr/lib/one.so"}), Packages{"libone-dbgsym"});
  EXPECT_EQ(of({"/lib/one.so", "/usr/lib/libc.so.6"}), (Packages{"libone-dbgsym", "libc6-dbg"}));
  EXPECT_EQ(of({"/usr/lib/python3.11/lib.so", "/usr/lib/python3/one.so"}),
            (Packages{"python3-one-dbgsym", "python3.11-dbg"}));
  EXPECT_EQ(of({"/usr/lib/one", "/usr/lib/two.so", "one.so", ""}), Packages{});
  EXPECT_EQ(debug_packages({"/usr/lib/one.so"}, "/no/such/folder"), Packages{});
}

TEST_F(DebugPackages, ALineIsAboutFunctionsThatAreShownAndHaveNoName) {
  NamedFrame named{std::string("/bin/true"), 1, std::string("main"), {}, NotAvailable{"none"}, NotAvailable{"none"}};
  const std::vector<NamedFrame> all_named{named, named};
  named.function = NotAvailable{"no symbol there"};
  const std::vector<NamedFrame> deep{all_named[0], named};
  EXPECT_EQ(debug_packages_line({&all_named}, 2), "");
  EXPECT_EQ(debug_packages_line({&deep}, 1), "");
  // The machine that runs this test need not be Debian.
  const bool is_debian = !debug_packages({"/bin/true"}).empty();
  EXPECT_EQ(debug_packages_line({&all_named, &deep}, 2).find("of true, install coreutils-dbgsym") != std::string::npos,
            is_debian);
}

}  // namespace
}  // namespace zerotax
