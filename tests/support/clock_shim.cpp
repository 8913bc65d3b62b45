// For LD_PRELOAD: sets the system clock back while a program runs, as an administrator or NTP may.
//   CLOCK_WHEN  a file: while it exists, CLOCK_REALTIME is an hour earlier; CLOCK_MONOTONIC is unchanged
#include <cstdlib>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

extern "C" int clock_gettime(clockid_t clock, timespec* now) {
    const long result = ::syscall(SYS_clock_gettime, clock, now);
    const char* when = std::getenv("CLOCK_WHEN");
    if (result == 0 && clock == CLOCK_REALTIME && when != nullptr && ::access(when, F_OK) == 0) now->tv_sec -= 3600;
    return static_cast<int>(result);
}
