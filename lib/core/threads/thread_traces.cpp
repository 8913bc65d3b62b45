#include "core/threads/thread_traces.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/files/files.h"

namespace bertpretrain {
namespace {

constexpr int question = SIGURG;
constexpr int most_frames = 64;
constexpr std::chrono::milliseconds time_to_answer(300), time_for_all(10'000);

/// A request to one thread. Each has memory of its own, which is never reused: the answer of a thread that was given up may come
/// while another thread answers.
struct Request {
    explicit Request(pid_t of) : thread(of) {}
    const pid_t thread;
    std::atomic<int> answered{-1};  ///< number of frames; -1: no answer yet
    std::array<void*, most_frames> frames{};
};

/// The request that its thread has not yet begun to answer; null: none. The signal handler accesses only this.
std::atomic<Request*> asked{nullptr};

void answer(int) {
    const int saved = errno;
    Request* request = asked;
    if (request != nullptr && request->thread == static_cast<pid_t>(::syscall(SYS_gettid)) &&
        asked.compare_exchange_strong(request, nullptr))
        request->answered = ::backtrace(request->frames.data(), most_frames);
    errno = saved;
}

/// Returns a new request, which is kept until the process ends.
Request& new_request(pid_t thread) {
    static std::deque<Request> all;
    return all.emplace_back(thread);
}

/// Waits for the answer as long as a thread that is not blocked may take.
bool answers_in_time(const Request& request) {
    const auto end = std::chrono::steady_clock::now() + time_to_answer;
    while (request.answered < 0 && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return request.answered >= 0;
}

std::vector<pid_t> threads() {
    std::vector<pid_t> all;
    std::error_code failure;
    for (const std::filesystem::path& thread : folder_entries("/proc/self/task", failure))
        all.push_back(static_cast<pid_t>(std::stol(thread.filename().string())));
    std::sort(all.begin(), all.end());
    return all;
}

std::string first_line_of(const std::string& file) {
    std::string line;
    std::getline(std::ifstream(file), line);
    return line;
}

std::string frame_text(void* address) {
    std::ostringstream text;
    Dl_info info{};
    if (::dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
        text << address;
        return text.str();
    }
    text << std::filesystem::path(info.dli_fname).filename().string();
    if (info.dli_sname != nullptr) {
        int status = 0;
        const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status),
                                                              std::free);
        text << " " << (readable ? readable.get() : info.dli_sname);
    }
    text << " +0x" << std::hex << (static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase));
    return text.str();
}

/// Returns the frames of one thread, without the two innermost: the handler and the kernel's signal return.
std::string trace_of(pid_t thread) {
    Request& request = new_request(thread);
    asked = &request;
    if (::syscall(SYS_tgkill, ::getpid(), thread, question) != 0) {
        asked = nullptr;
        return "    has exited\n";
    }
    if (!answers_in_time(request)) {
        Request* still = &request;
        if (asked.compare_exchange_strong(still, nullptr)) {
            const std::string where = first_line_of("/proc/self/task/" + std::to_string(thread) + "/wchan");
            return "    does not answer" + (where.empty() || where == "0" ? "" : "; blocked in the kernel: " + where) + "\n";
        }
        if (!answers_in_time(request)) return "    has begun to answer and does not finish\n";
    }
    std::string text;
    for (int i = 2; i < request.answered; ++i) text += "    " + frame_text(request.frames[static_cast<std::size_t>(i)]) + "\n";
    return text;
}

}  // namespace

void prepare_thread_traces() {
    std::array<void*, 2> first;
    ::backtrace(first.data(), first.size());  // loads the unwinder now: a signal handler must not
    struct sigaction action {};
    action.sa_handler = answer;
    action.sa_flags = SA_RESTART;
    ::sigaction(question, &action, nullptr);
}

std::string thread_traces() {
    std::string text;
    const auto end = std::chrono::steady_clock::now() + time_for_all;
    for (const pid_t thread : threads()) {
        text += "  thread " + std::to_string(thread) + " " +
                first_line_of("/proc/self/task/" + std::to_string(thread) + "/comm") + "\n";
        if (thread == static_cast<pid_t>(::syscall(SYS_gettid))) text += "    is writing these traces\n";
        else if (std::chrono::steady_clock::now() < end) text += trace_of(thread);
    }
    return text;
}

}  // namespace bertpretrain
