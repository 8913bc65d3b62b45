#include "core/threads/thread_traces.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/skip.h"

using namespace bertpretrain;

namespace {

/// What the thread does when its stack is read; null: nothing.
thread_local void (*while_stack_is_read)() = nullptr;
std::atomic<bool> late_may_answer{false}, late_has_answered{false};

using Backtrace = int(void**, int);

}  // namespace

/// Takes the place of libc's, which it calls.
extern "C" int backtrace(void** frames, int most) {
    static const auto real = reinterpret_cast<Backtrace*>(::dlsym(RTLD_NEXT, "backtrace"));
    if (while_stack_is_read != nullptr) while_stack_is_read();
    return real(frames, most);
}

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

[[gnu::noinline]] void wait_in_late_thread(int file) { read_byte_by_byte(file); }
[[gnu::noinline]] void wait_in_prompt_thread(int file) { read_byte_by_byte(file); }

TEST_CASE("the late answer of a thread that was given up is not taken for another thread's") {
#ifdef __SANITIZE_THREAD__
    SKIP_TEST(testing::skip::sanitizer, "the thread sanitizer runs a signal's handler only when the blocked call has returned");
#endif
    prepare_thread_traces();
    late_may_answer = late_has_answered = false;
    int of_late[2], of_prompt[2];
    REQUIRE(::pipe(of_late) == 0);
    REQUIRE(::pipe(of_prompt) == 0);
    std::atomic<int> ready{0};
    std::thread late([&] {  // asked first: it has the smaller id
        ::pthread_setname_np(::pthread_self(), "late");
        while_stack_is_read = [] {
            while (!late_may_answer) {}
        };
        ++ready;
        wait_in_late_thread(of_late[0]);
    });
    while (ready < 1) std::this_thread::yield();
    std::thread prompt([&] {
        ::pthread_setname_np(::pthread_self(), "prompt");
        while_stack_is_read = [] {
            late_may_answer = true;
            while (!late_has_answered) {}
        };
        ++ready;
        wait_in_prompt_thread(of_prompt[0]);
    });
    while (ready < 2) std::this_thread::yield();
    std::thread watcher([&] {  // the late thread reads again once its handler has returned
        while (!late_may_answer) std::this_thread::yield();
        if (::write(of_late[1], "q", 1) == 1) late.join();
        late_has_answered = true;
    });
    const std::string traces = thread_traces();
    INFO(traces);
    const std::size_t at = traces.find(" prompt\n");
    REQUIRE(at != traces.npos);
    const std::string of_thread = traces.substr(at, traces.find("\n  thread ", at) - at);
    CHECK(of_thread.find("wait_in_late_thread") == of_thread.npos);
    CHECK(of_thread.find("wait_in_prompt_thread") != of_thread.npos);
    CHECK(traces.find("has begun to answer and does not finish") != traces.npos);
    REQUIRE(::write(of_prompt[1], "q", 1) == 1);
    watcher.join();
    prompt.join();
}
