/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "mccpicture.h"

#define M UINT64_C (1000000)
#define K UINT64_C (1000)

static void
test_table (void)
{
  static const struct {
    uint32_t width, height, fps_n, fps_d;
    uint64_t low_bps, high_bps;
    MccPicture result;
  } table[] = {
    /* three streams up to 10 Mb/s */
    { 1920, 1080, 30, 1, 300 * K, 2 * M, { 640, 360, 1 } },
    { 1920, 1080, 30, 1, 2 * M, 5 * M, { 1280, 720, 1 } },
    { 1920, 1080, 30, 1, 5 * M, 10 * M, { 1920, 1080, 1 } },
    { 1280, 720, 30, 1, 300 * K, 2 * M, { 640, 360, 1 } },
    { 1280, 720, 30, 1, 2 * M, 5 * M, { 1280, 720, 1 } },
    { 1280, 720, 25, 1, 2 * M, 5 * M, { 1280, 720, 1 } },
    { 640, 360, 30, 1, 300 * K, 2 * M, { 640, 360, 1 } },
    { 320, 240, 30, 1, 300 * K, 2 * M, { 320, 240, 1 } }, /* never enlarged */
    { 352, 288, 25, 1, 100 * K, 300 * K, { 264, 216, 1 } },
    /* 60/s is halved before the size */
    { 1920, 1080, 60, 1, 5 * M, 10 * M, { 1920, 1080, 2 } },
    { 1920, 1080, 60, 1, 10 * M, 20 * M, { 1920, 1080, 1 } },
    { 1280, 720, 60000, 1001, 300 * K, 2 * M, { 640, 360, 2 } },
    { 1280, 720, 120, 1, 300 * K, 2 * M, { 640, 360, 4 } },
    /* no picture smaller than a stamp: frames go */
    { 1280, 720, 30, 1, 50 * K, 100 * K, { 320, 180, 3 } },
    { 1280, 720, 30, 1, 1 * K, 1 * K, { 320, 180, 4 } },
    { 1280, 720, 0, 1, 300 * K, 2 * M, { 640, 360, 1 } }, /* unknown: as 30 */
    { 176, 144, 15, 1, 1 * K, 1 * K, { 176, 144, 2 } },
    /* odd ones become even, never more than there is */
    { 641, 361, 30, 1, 300 * K, 2 * M, { 640, 360, 1 } },
    { 1366, 768, 30, 1, 300 * K, 2 * M, { 684, 384, 1 } },
    { 1, 1, 30, 1, 300 * K, 2 * M, { 1, 1, 1 } },
    { 3840, 2160, 30, 1, 300 * K, 600 * K, { 480, 270, 1 } },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (table); i++) {
    MccPicture p = mcc_picture_choose (table[i].width, table[i].height, table[i].fps_n,
        table[i].fps_d, table[i].low_bps, table[i].high_bps);

    g_test_message ("%u x %u at %u/%u, %" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT
                    " gives %u x %u, one of %u",
        table[i].width, table[i].height, table[i].fps_n, table[i].fps_d, table[i].low_bps,
        table[i].high_bps, p.width, p.height, p.every);
    g_assert_cmpuint (p.width, ==, table[i].result.width);
    g_assert_cmpuint (p.height, ==, table[i].result.height);
    g_assert_cmpuint (p.every, ==, table[i].result.every);
  }
}

static void
test_laws (void)
{
  static const uint32_t sizes[][2] = { { 1920, 1080 }, { 1280, 720 }, { 1279, 719 }, { 720, 576 },
    { 640, 480 }, { 641, 481 }, { 352, 288 }, { 1080, 1920 }, { 16, 16 }, { 2, 2 }, { 5000, 20 } };
  static const uint32_t rates[][2] = { { 30, 1 }, { 25, 1 }, { 60, 1 }, { 24000, 1001 }, { 0, 1 },
    { 0, 0 }, { 5, 1 }, { 240, 1 } };

  for (unsigned s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (unsigned r = 0; r < G_N_ELEMENTS (rates); r++) {
      uint32_t w = sizes[s][0], h = sizes[s][1];
      MccPicture before = { 0, 0, UINT32_MAX };

      for (uint64_t low = 10000; low < 100 * M; low += low / 7) {
        MccPicture p = mcc_picture_choose (w, h, rates[r][0], rates[r][1], low, 2 * low);
        double x = (double)p.width / w, y = (double)p.height / h;

        g_assert_cmpuint (p.width % 2, ==, 0);
        g_assert_cmpuint (p.height % 2, ==, 0);
        g_assert_cmpuint (p.width, <=, w);
        g_assert_cmpuint (p.height, <=, h);
        g_assert_cmpuint (p.width, >=, 2);
        g_assert_cmpuint (p.height, >=, 2);
        g_assert_cmpuint (p.every, >=, 1);
        /* the aspect ratio: each side is off by 2 at most */
        g_assert_cmpfloat (fabs (x - y), <=, 2.0 / w + 2.0 / h);
        /* monotone in the bounds */
        g_assert_cmpuint (p.width, >=, before.width);
        g_assert_cmpuint (p.height, >=, before.height);
        g_assert_cmpuint (p.every, <=, before.every);
        before = p;
      }
    }
}

static void
test_fits (void)
{
  for (uint64_t low = 100 * K; low < 20 * M; low += low / 3) {
    MccPicture p = mcc_picture_choose (1920, 1080, 30, 1, low, 3 * low);
    double pixels = (double)p.width * p.height * 30.0 / p.every;

    if (p.width > 320)
      g_assert_cmpfloat (
          sqrt (3.0) * (double)low / pixels, >=, MCC_PICTURE_BITS / MCC_PICTURE_TOLERANCE);
  }
}

/* It stays for bounds that are near, and is not thrown to and fro between any two. */
static void
test_moves (void)
{
  g_assert_false (mcc_picture_moves (300 * K, 1000 * K, 300 * K, 1000 * K));
  g_assert_false (mcc_picture_moves (100 * K, 400 * K, 200 * K, 440 * K)); /* x 1.48 */
  g_assert_true (mcc_picture_moves (100 * K, 400 * K, 200 * K, 460 * K));
  g_assert_true (mcc_picture_moves (200 * K, 460 * K, 100 * K, 400 * K));
  g_assert_true (mcc_picture_moves (100 * M, 10000 * M, 100 * K, 300 * K));
  for (uint64_t a = 100 * K; a < 10 * M; a += a / 5)
    for (uint64_t b = 100 * K; b < 10 * M; b += b / 5) {
      uint64_t at = a;
      unsigned changes = 0;

      for (unsigned i = 0; i < 10; i++) {
        /* a little above and below, as receivers' rates move */
        uint64_t next = b + b / 5 * (i % 2);

        if (mcc_picture_moves (at, 2 * at, next, 2 * next)) {
          at = next;
          changes++;
        }
      }
      g_assert_cmpuint (changes, <=, 1);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/picture/table", test_table);
  g_test_add_func ("/picture/even-inside-monotone", test_laws);
  g_test_add_func ("/picture/enough-bits-a-pixel", test_fits);
  g_test_add_func ("/picture/stays-for-bounds-that-are-near", test_moves);
  return g_test_run ();
}
