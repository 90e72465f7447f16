"""A clock that can jump, for the programs of the sandbox alone."""

import mmap
import shutil
import struct
import subprocess

# The real clock plus the seconds that the file $FAULTS_CLOCK holds.
SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *ahead;

__attribute__((constructor)) static void begin(void) {
    int fd = open(getenv("FAULTS_CLOCK"), O_RDONLY | O_CLOEXEC);
    void *map = fd < 0 ? MAP_FAILED : mmap(0, 8, PROT_READ, MAP_SHARED, fd, 0);
    ahead = map == MAP_FAILED ? 0 : map;
    if (fd >= 0) close(fd);
}

int clock_gettime(clockid_t id, struct timespec *now) {
    int failed = syscall(SYS_clock_gettime, id, now);
    if (!failed && ahead && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) now->tv_sec += *ahead;
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
"""


class Clock:
    """The library that programs load, and the file that says how far ahead they are."""

    def __init__(self, library, file, mapped):
        self.env = {"LD_PRELOAD": str(library), "FAULTS_CLOCK": str(file)}
        self._mapped = mapped

    def set(self, seconds_ahead):
        self._mapped[:] = struct.pack("q", seconds_ahead)


def make_clock(directory):
    """Builds one; returns nothing where there is no compiler."""
    source, library, file = (directory / name for name in ("clock.c", "clock.so", "clock"))
    source.write_text(SOURCE)
    build = ["cc", "-shared", "-fPIC", "-O1", "-o", library, source]
    if not shutil.which("cc") or subprocess.run(build).returncode:
        return None
    file.write_bytes(bytes(8))
    with open(file, "r+b") as opened:
        return Clock(library, file, mmap.mmap(opened.fileno(), 8))
