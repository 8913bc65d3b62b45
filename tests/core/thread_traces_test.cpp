#include "core/thread_traces.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <pthread.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/skip.h"

using namespace bertpretrain;

/// Reads until a 'q' arrives. Not in an unnamed namespace, so that the program exports its name.
[[gnu::noinline]] void read_byte_by_byte(int file) {
    char byte = 0;
    while (::read(file, &byte, 1) == 1 && byte != 'q') {}
}

TEST_CASE("the traces show each thread's name and the function in which it waits") {
#ifdef __SANITIZE_THREAD__
    SKIP_TEST(testing::skip::sanitizer, "the thread sanitizer runs a signal's handler only when the blocked call has returned");
#endif
    prepare_thread_traces();
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    std::thread reader([&] {
        ::pthread_setname_np(::pthread_self(), "reads_forever");
        read_byte_by_byte(pipe_ends[0]);
    });
    REQUIRE(::write(pipe_ends[1], "abc", 3) == 3);
    std::string traces;
    for (int i = 0; i < 100 && traces.find("reads_forever") == traces.npos; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        traces = thread_traces();
    }
    INFO(traces);
    const std::size_t at = traces.find("reads_forever");
    REQUIRE(at != traces.npos);
    const std::string of_reader = traces.substr(at, traces.find("\n  thread ", at) - at);
    CHECK(of_reader.find("read") != of_reader.npos);
    CHECK(of_reader.find("read_byte_by_byte(int) +0x") != of_reader.npos);  // C++ names are demangled
    CHECK(traces.find("is writing these traces") != traces.npos);           // the calling thread
    CHECK(of_reader.find("does not answer") == of_reader.npos);
    REQUIRE(::write(pipe_ends[1], "q", 1) == 1);  // the signal only interrupted its system call
    reader.join();
}
