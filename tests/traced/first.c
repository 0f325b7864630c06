/* The first trace of docs/trace.md, with every kind of field. */
#include <zerotax/recorder.h>

ZEROTAX_EVENT(request_done, (uint64_t, bytes), (double, seconds), (char, peer, 16))
ZEROTAX_EVENT(every_kind, (int8_t, i8), (uint16_t, u16), (int32_t, i32), (float, ratio), (int64_t, i64), (char, letter),
              (uint16_t, triple, 3), (char, text, 5), (_Bool, yes))
ZEROTAX_EVENT(event, (int, integer), (int, stream), (int, string), (int, clock)) /* keywords of TSDL */
ZEROTAX_MARK_EVENT(tick)

int main(void) {
  for (int i = 0; i < 3; ++i) {
    ZEROTAX_RECORD(request_done, .bytes = 512, .seconds = 0.25 * i, .peer = "example");
  }
  ZEROTAX_RECORD(every_kind, .i8 = -8, .u16 = 65535, .i32 = -32, .ratio = 0.5F, .i64 = -64, .letter = 'x',
                 .triple = {1, 2, 3}, .text = "words", .yes = 1);
  ZEROTAX_RECORD(event, .integer = 1, .stream = 2, .string = 3, .clock = 4);
  ZEROTAX_MARK(tick);
  return 0;
}
