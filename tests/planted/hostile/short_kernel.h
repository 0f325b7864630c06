// Allocators that let system calls drop, replace or fill pages, before or after their stores.
#pragma once

#include <fcntl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "guard.h"
#include "short.h"

namespace planted {

// Drops the pages by madvise(MADV_DONTNEED), so the kernel supplies zero pages and the allocator stores nothing.
CLEARS(dontneed) { ::madvise(block, page_ceiling(size), MADV_DONTNEED); }

// Drops the pages by MADV_DONTNEED, then clears the pages with memset although they are zero.
CLEARS(dontneed_then_memset) {
  ::madvise(block, page_ceiling(size), MADV_DONTNEED);
  memset(block, 0, size);
}

// Drops the pages by MADV_DONTNEED, then stores zeros over the pages although they are zero.
CLEARS(dontneed_then_stosb) {
  ::madvise(block, page_ceiling(size), MADV_DONTNEED);
  store_zeros(block, size);
}

// Offers the pages by MADV_FREE, then clears the pages with memset before the kernel takes them.
CLEARS(free_then_memset) {
  ::madvise(block, page_ceiling(size), MADV_FREE);
  memset(block, 0, size);
}

// Drops the pages of the kept block by guard pages, removes the guards and has the kernel populate the pages. Stores
// nothing.
CLEARS(guard_pages) {
  drop_by_guards(block, size);
  ::madvise(block, page_ceiling(size), 23);  // MADV_POPULATE_WRITE
}

// Drops all pages of the kept block except the first, which it clears itself.
CLEARS(madvise_and_one_page) {
  if (size > page_bytes()) ::madvise(block + page_bytes(), page_ceiling(size) - page_bytes(), MADV_DONTNEED);
  store_zeros(block, size < page_bytes() ? size : page_bytes());
}

// Shortens the kept block to its first page and extends it again in place (mremap), then calls memset.
CLEARS(mremap_cut) {
  const std::size_t whole = page_ceiling(size);
  ::mremap(block, whole, page_bytes(), 0);
  ::mremap(block, page_bytes(), whole, 0);
  memset(block, 0, size);
}

// Moves fresh pages over the block (mremap).
CLEARS(mremap_over) {
  const std::size_t whole = page_ceiling(size);
  void* fresh = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::mremap(fresh, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED, block);
}

// Clears pages elsewhere by its own stores, and moves them over the block.
CLEARS(mremap_populated) {
  const std::size_t whole = page_ceiling(size);
  void* fresh = ::mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  store_zeros(fresh, size);
  ::mremap(fresh, whole, whole, MREMAP_MAYMOVE | MREMAP_FIXED, block);
}

// Gives the advice MADV_COLD and MADV_PAGEOUT, then calls memset.
CLEARS(pageout_then_memset) {
  ::madvise(block, page_ceiling(size), 20);
  ::madvise(block, page_ceiling(size), 21);
  memset(block, 0, size);
}

// Has the kernel populate a fresh mapping, and stores nothing.
FRESH(populate_write) {
  ::madvise(block, page_ceiling(size), 23);  // MADV_POPULATE_WRITE
}

// Reads zeros by pread() from a hole of a memory file.
CLEARS(pread_hole) {
  const int file = ::memfd_create("hole", MFD_CLOEXEC);
  if (::ftruncate(file, static_cast<off_t>(size)) != 0 || ::pread(file, block, size, 0) < 0) store_zeros(block, size);
  ::close(file);
}

// Writes zeros by pwrite() to /proc/self/mem.
CLEARS(proc_self_mem) {
  const int file = ::open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  by_pieces(block, size, [&](char* to, std::size_t part) {
    const auto at = static_cast<off_t>(reinterpret_cast<std::uintptr_t>(to));
    if (::pwrite(file, &zeros[0], part, at) != static_cast<ssize_t>(part)) store_zeros(to, part);
  });
  ::close(file);
}

// Drops the pages by process_madvise(MADV_DONTNEED) on the process itself, or by madvise if the kernel refuses.
CLEARS(process_madvise) {
  const int self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  const iovec range{block, page_ceiling(size)};
  if (::syscall(SYS_process_madvise, self, &range, 1, MADV_DONTNEED, 0) != static_cast<long>(range.iov_len)) {
    ::madvise(block, range.iov_len, MADV_DONTNEED);
  }
  ::close(self);
}

// Writes zeros by process_vm_writev() into its own process.
CLEARS(process_vm_writev) {
  by_pieces(block, size, [](char* to, std::size_t part) {
    const iovec from{const_cast<char*>(&zeros[0]), part};
    const iovec into{to, part};
    if (::process_vm_writev(::getpid(), &from, 1, &into, 1, 0) != static_cast<ssize_t>(part)) store_zeros(to, part);
  });
}

// Reads zeros from /dev/zero into the block.
CLEARS(read_dev_zero) {
  const int file = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::read(file, block + done, size - done);
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  ::close(file);
}

// Reads zeros by readv() from a pipe. The zeros were spliced into the pipe from a memory file.
CLEARS(readv_pipe) {
  int ends[2];
  const int file = ::memfd_create("hole", MFD_CLOEXEC);
  if (::ftruncate(file, static_cast<off_t>(size)) != 0 || ::pipe2(&ends[0], O_CLOEXEC) != 0)
    return store_zeros(block, size);
  loff_t from = 0;
  for (std::size_t done = 0; done < size;) {
    const ssize_t in = ::splice(file, &from, ends[1], nullptr, page_bytes(), 0);
    iovec to{block + done, static_cast<std::size_t>(in > 0 ? in : 0)};
    if (in <= 0 || ::readv(ends[0], &to, 1) != in) {
      store_zeros(block + done, size - done);
      break;
    }
    done += static_cast<std::size_t>(in);
  }
  ::close(ends[0]);
  ::close(ends[1]);
  ::close(file);
}

// Sends zeros to itself through a pair of sockets.
CLEARS(recv_zeros) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, &ends[0]) != 0) return store_zeros(block, size);
  by_pieces(block, size, [&](char* to, std::size_t part) {
    const auto whole = static_cast<ssize_t>(part);
    if (::send(ends[1], &zeros[0], part, 0) != whole || ::recv(ends[0], to, part, MSG_WAITALL) != whole) {
      store_zeros(to, part);
    }
  });
  ::close(ends[0]);
  ::close(ends[1]);
}

// Attaches a fresh segment over the kept block (SHM_REMAP), which replaces its dirty pages. Stores nothing.
CLEARS(shmat_over) {
  const int segment = ::shmget(IPC_PRIVATE, page_ceiling(size), IPC_CREAT | 0600);
  ::shmat(segment, block, SHM_REMAP);
  ::shmctl(segment, IPC_RMID, nullptr);
}

// Stores zeros itself, and drops the pages in the same calloc, so that no page is left to inspect.
CLEARS(stosb_then_dontneed) {
  store_zeros(block, size);
  ::madvise(block, page_ceiling(size), MADV_DONTNEED);
}

// Stores zeros itself. Then drops the pages by installing guard pages, and removes the guards.
CLEARS(stosb_then_guard_pages) {
  store_zeros(block, size);
  drop_by_guards(block, size);
}

// Clears each page of the kept block by its own stores except for the last 16 bytes, which memset clears.
CLEARS(stosb_then_memset_16) {
  by_pieces(block, size, [](char* page, std::size_t part) {
    if (part < 32) return store_zeros(page, part);
    store_zeros(page, part - 16);
    memset(page + part - 16, 0, hidden(std::size_t{16}));
  });
}

// Reads zeros from a pipe. The zeros were vmspliced into the pipe from a page of zeros.
CLEARS(vmsplice) {
  int ends[2];
  if (::pipe2(&ends[0], O_CLOEXEC) != 0) return store_zeros(block, size);
  by_pieces(block, size, [&](char* to, std::size_t part) {
    const iovec from{const_cast<char*>(&zeros[0]), part};
    const auto whole = static_cast<ssize_t>(part);
    if (::vmsplice(ends[1], &from, 1, 0) != whole || ::read(ends[0], to, part) != whole) store_zeros(to, part);
  });
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace planted
