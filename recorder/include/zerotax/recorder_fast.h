/* The fast path, for records that fit into the buffer. This path is inlined, makes no call, and takes no lock. */
#ifndef ZEROTAX_RECORDER_FAST_H
#define ZEROTAX_RECORDER_FAST_H

// NOLINTBEGIN(modernize-deprecated-headers): C includes this, too
#include <stddef.h>
#include <stdint.h>
#include <string.h>
// NOLINTEND(modernize-deprecated-headers)

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
extern "C" {
#endif

#define ZEROTAX_PUBLIC_ __attribute__((visibility("default")))

/* A field of an event. */
struct zerotax_field {
  const char* name;
  uint32_t kind;   /* ZEROTAX_KIND_* */
  uint32_t bytes;  /* bytes of an element: 1, 2, 4 or 8 */
  uint32_t count;  /* number of elements of an array */
  uint32_t offset; /* bytes from the beginning of the struct */
  uint32_t is_array;
};

/* A type of event: one per definition and source file. */
struct zerotax_type {
  uint64_t word; /* number of the type << 48; 0 until it is first recorded */
  const char* name;
  const struct zerotax_field* fields;
  uint32_t field_count;
  uint32_t bytes; /* bytes of the struct, up to the end of its last field */
};

/* A lane's progress, visible outside the process. The struct is in the buffer's file, so that it survives a crash. */
struct zerotax_commit {
  uint64_t committed; /* address of the end of the last complete record, without padding */
  uint64_t last;      /* timestamp of the last record */
};

/* The place where a thread records an event. The struct is in memory that the kernel clears in a forked child
 * (MADV_WIPEONFORK). The cleared limit, 0, sends the child's first record to the slow path. */
struct zerotax_lane {
  uint64_t busy; /* a record is being made, so a signal handler must not use this lane */
  char* cursor;
  char* limit;
  struct zerotax_commit* commit;
};

/* The calling thread's lane, which is never NULL. With the TLS model initial-exec, an access takes one load. The
 * pointer takes 8 bytes of the static TLS that the C library keeps for libraries opened later. */
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): __thread takes constants only
ZEROTAX_PUBLIC_ extern __thread struct zerotax_lane* zerotax_lane_current __attribute__((tls_model("initial-exec")));

/* Slow path: handles first records, full packets, signal handlers that interrupt a record, and clocks other than the
   processor's. */
ZEROTAX_PUBLIC_ void zerotax_record_slow(struct zerotax_type* type, const void* bytes, size_t size);

#define ZEROTAX_TICK_BITS_ 48

/* Reads the processor's counter that runs at a constant rate: the TSC of x86-64, or the virtual counter of arm64. */
#if defined(__x86_64__) || defined(__aarch64__)
#define ZEROTAX_HAS_TICKS_ 1
// NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it
static inline __attribute__((always_inline, no_instrument_function)) uint64_t zerotax_ticks_(void) {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}
#endif

/* Writes a record: one word (48 bits of timestamp, 16 bits of the type's number) and the struct, padded to 8 bytes. */
static inline __attribute__((always_inline, no_instrument_function)) void zerotax_record_bytes(
    struct zerotax_type* type, const void* bytes, size_t size) {
#ifdef ZEROTAX_HAS_TICKS_
  struct zerotax_lane* const lane = zerotax_lane_current;
  const uint64_t word = __atomic_load_n(&type->word, __ATOMIC_RELAXED);
  if (__builtin_expect((__atomic_load_n(&lane->busy, __ATOMIC_RELAXED) == 0) & (word != 0), 1)) {
    const size_t need = (sizeof word + size + 7) & ~(size_t)7;
    __atomic_store_n(&lane->busy, 1, __ATOMIC_RELAXED);
    /* From here to the next fence, a signal handler sees that the lane is busy, and uses the other lane. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    char* const at = lane->cursor;
    if (__builtin_expect((size_t)__atomic_load_n(&lane->limit, __ATOMIC_RELAXED) >= (size_t)at + need, 1)) {
      struct zerotax_commit* const commit = lane->commit;
      const uint64_t now = zerotax_ticks_();
      /* A single comparison detects a clock that stepped back and a clock that advanced by more than 48 bits can
         represent. */
      if (__builtin_expect(now - commit->last < (uint64_t)1 << (ZEROTAX_TICK_BITS_ - 1), 1)) {
        const uint64_t first = word | (now & (((uint64_t)1 << ZEROTAX_TICK_BITS_) - 1));
        memcpy(at, &first, sizeof first);
        if (size != 0) memcpy(at + sizeof first, bytes, size);
        lane->cursor = at + need;
        __atomic_store_n(&commit->last, now, __ATOMIC_RELAXED);
        __atomic_store_n(&commit->committed, (uint64_t)(at + sizeof word + size), __ATOMIC_RELEASE);
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        __atomic_store_n(&lane->busy, 0, __ATOMIC_RELAXED);
        return;
      }
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&lane->busy, 0, __ATOMIC_RELAXED);
  }
#endif
  zerotax_record_slow(type, bytes, size);
}

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
