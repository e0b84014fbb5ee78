/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a fuzz target over the files of a folder, and over what each becomes when it is cut short.
 * replay FOLDER [HOW-MANY-CUTS]. TAP; needs no libFuzzer, so that every test run replays the
 * corpus.
 */
#include <dirent.h>
#include <string.h>

#include "fuzz.h"

#define MAX_BYTES 65536
#define CUTS 16

static void
replay (const char *folder, const char *name, size_t cuts)
{
  static uint8_t data[MAX_BYTES];
  char path[4096];
  FILE *file;
  size_t size;

  snprintf (path, sizeof path, "%s/%s", folder, name);
  file = fopen (path, "rb");
  CHECK (file != NULL);
  size = fread (data, 1, sizeof data, file);
  fclose (file);
  for (size_t i = 1; i <= cuts; i++) {
    size_t cut = size * i / cuts;
    uint8_t *exact = malloc (cut);

    CHECK (exact != NULL || cut == 0);
    if (cut > 0)
      memcpy (exact, data, cut);
    LLVMFuzzerTestOneInput (exact, cut);
    free (exact);
  }
}

int
main (int argc, char **argv)
{
  struct dirent *entry;
  unsigned count = 0, cuts = argc > 2 ? (unsigned)atoi (argv[2]) : CUTS;
  DIR *dir;

  CHECK (argc >= 2 && cuts > 0);
  dir = opendir (argv[1]);
  CHECK (dir != NULL);
  while ((entry = readdir (dir)) != NULL) {
    if (entry->d_name[0] == '.')
      continue;
    printf ("# %s\n", entry->d_name);
    fflush (stdout);
    replay (argv[1], entry->d_name, cuts);
    printf ("ok %u - %s\n", ++count, entry->d_name);
  }
  closedir (dir);
  printf ("1..%u\n", count);
  return count > 0 ? 0 : 1;
}
