#include "os/regular_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace zerotax {
namespace {

/// A folder that stands for another process's root folder, with root/file in it, and a file outside of that root.
class ForeignRoot : public testing::Test {
 protected:
  ForeignRoot() {
    std::string folder = (std::filesystem::temp_directory_path() / "regular-file-XXXXXX").string();
    folder_ = ::mkdtemp(folder.data());
    std::filesystem::create_directory(folder_ + "/root");
    std::ofstream(folder_ + "/outside") << "outside";
    std::ofstream(folder_ + "/root/file") << "inside";
    root_ = UniqueFd(::open((folder_ + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  ~ForeignRoot() override { std::filesystem::remove_all(folder_); }
  void link(const std::string& to, const std::string& name) const {
    ASSERT_EQ(::symlink(to.c_str(), (folder_ + "/root/" + name).c_str()), 0);
  }
  /// Returns the size of the opened file, or -1 if none was opened.
  [[nodiscard]] off_t opened(const std::string& path, Links links, std::uint64_t most_bytes = 100) {
    const RegularFile file = open_regular_file(root_.get(), path, links, most_bytes);
    why_ = file.why;
    struct stat status {};
    return file && ::fstat(file.fd.get(), &status) == 0 ? status.st_size : -1;
  }

  std::string folder_;
  UniqueFd root_;
  std::string why_;
};

TEST_F(ForeignRoot, AFileIsOpenedUpToItsLimit) {
  EXPECT_EQ(opened("/file", Links::kNone), 6);
  EXPECT_EQ(opened("/file", Links::kNone, 6), 6);
  EXPECT_EQ(opened("/file", Links::kNone, 5), -1);
  EXPECT_NE(why_.find("larger than"), std::string::npos);
  EXPECT_EQ(opened("/none", Links::kNone), -1);
  EXPECT_EQ(why_, "");
}

TEST_F(ForeignRoot, NoLinkLeadsOutOfIt) {
  link("file", "inside");
  link("/file", "from-root");
  link("../outside", "above");
  link("/proc/self/root" + folder_ + "/outside", "around");
  link(folder_ + "/outside", "away");
  EXPECT_EQ(opened("/inside", Links::kInsideRoot), 6);
  EXPECT_EQ(opened("/from-root", Links::kInsideRoot), 6);
  for (const char* name : {"/above", "/around", "/away", "/../outside"}) {
    EXPECT_EQ(opened(name, Links::kInsideRoot), -1) << name;
    EXPECT_EQ(opened(name, Links::kNone), -1) << name;
  }
  EXPECT_EQ(opened("/inside", Links::kNone), -1);
  EXPECT_EQ(why_, "it is a link");
  EXPECT_EQ(opened("above", Links::kAll), 7) << "a path that we chose";
}

TEST_F(ForeignRoot, OnlyRegularFilesAreOpened) {
  ASSERT_EQ(::mkfifo((folder_ + "/root/pipe").c_str(), 0600), 0);
  link("/dev/zero", "device");
  EXPECT_EQ(opened("/pipe", Links::kNone), -1);
  EXPECT_EQ(why_, "it is not a regular file");
  EXPECT_EQ(opened("/", Links::kInsideRoot), -1);
  EXPECT_EQ(opened("device", Links::kAll), -1);
  EXPECT_EQ(why_, "it is not a regular file");
}

TEST_F(ForeignRoot, ALeaseOfItsOwnerDoesNotHoldUsUp) {
  const UniqueFd leased(::open((folder_ + "/root/file").c_str(), O_WRONLY | O_CLOEXEC));
  if (::fcntl(leased.get(), F_SETLEASE, F_WRLCK) != 0) GTEST_SKIP() << "no leases on this file system";
  std::signal(SIGIO, SIG_IGN);  // this signal reports that another process wants to open the file
  EXPECT_EQ(opened("/file", Links::kNone), -1);
  EXPECT_EQ(::fcntl(leased.get(), F_SETLEASE, F_UNLCK), 0);
  EXPECT_EQ(opened("/file", Links::kNone), 6);
}

TEST_F(ForeignRoot, AFileOfRootIsNotOpenedWithTheRightsOfAnother) {
  if (::geteuid() != 0) GTEST_SKIP() << "root only";
  std::filesystem::permissions(folder_, std::filesystem::perms(0711));
  ASSERT_EQ(::chmod((folder_ + "/root/file").c_str(), 0600), 0);
  std::ofstream(folder_ + "/root/public") << "public";
  {
    const FileRights nobody({65534, 65534});
    ASSERT_TRUE(nobody);
    EXPECT_EQ(opened("/file", Links::kNone), -1);
    EXPECT_EQ(opened("/public", Links::kNone), 6);
  }
  EXPECT_EQ(opened("/file", Links::kNone), 6) << "the process has its own rights again";
}

/// Makes openat2 fail, as on kernels before Linux 5.6.
void forbid_openat2() {
  sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), &code[0]};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST_F(ForeignRoot, WithoutOpenat2NoLinkIsFollowedAtAll) {
  std::filesystem::create_directory(folder_ + "/root/folder");
  std::ofstream(folder_ + "/root/folder/file") << "deeper";
  link("file", "link");
  link("folder", "around");
  const auto try_all = [&] {
    forbid_openat2();
    bool right = opened("/folder/file", Links::kNone) == 6;
    right = right && opened("/link", Links::kInsideRoot) == -1 && why_ == "it is a link";
    right = right && opened("/around/file", Links::kInsideRoot) == -1;
    right = right && opened("/../outside", Links::kInsideRoot) == -1;
    ::_exit(right ? 0 : 1);
  };
  EXPECT_EXIT(try_all(), testing::ExitedWithCode(0), "");
}

TEST(FileUser, IsThatOfTheProcess) {
  const auto own = file_user(::getpid());
  ASSERT_TRUE(own);
  EXPECT_EQ(own->user, ::geteuid());
  EXPECT_EQ(own->group, ::getegid());
  EXPECT_FALSE(file_user(0x7ffffffe));
}

}  // namespace
}  // namespace zerotax
