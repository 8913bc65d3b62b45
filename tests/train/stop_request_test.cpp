#include "train/stop/stop_request.h"

#include <csignal>
#include <functional>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/process.h"

using namespace bertpretrain;
using testing::sleep_seconds;

namespace {

/// How a process of its own ends that does this: 0 when it comes to the end, 128 + signal number when a signal ended it.
int exit_code_of(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a stop request that systemd, a launcher and a script deliver within the interval is one request") {
    CHECK(exit_code_of([] {
              StopRequest requests(600);  // a busy machine may take more than the usual two seconds for this
              requests.await_requests();
              for (const int signal : {SIGTERM, SIGTERM, SIGINT}) std::raise(signal);
              sleep_seconds(0.1);
              std::raise(SIGTERM);
              if (requests.reason() != StopReason::by_signal(SIGTERM)) ::_exit(1);
          }) == 0);
}

TEST_CASE("a stop request that comes again after the interval ends the process at once") {
    CHECK(exit_code_of([] {
              StopRequest requests(0.2);
              requests.await_requests();
              std::raise(SIGTERM);
              sleep_seconds(0.3);
              std::raise(SIGINT);
          }) == 130);
}

TEST_CASE("a signal while the next phase starts ends the process at once, and one before that is still a reason to stop") {
    const auto in_next_phase = [](bool before) {
        return exit_code_of([before] {
            StopRequest requests(600);
            requests.await_requests();
            if (before) std::raise(SIGTERM);
            requests.begin_startup();
            if (!before) std::raise(SIGTERM);
            if (requests.reason() != StopReason::by_signal(SIGTERM)) ::_exit(1);
        });
    };
    CHECK(in_next_phase(true) == 0);
    CHECK(in_next_phase(false) == 143);
}

TEST_CASE("SIGXCPU, which the system repeats every second, asks for one stop and never ends the process without a save") {
    CHECK(exit_code_of([] {
              StopRequest requests(0.05);
              requests.await_requests();
              for (int second = 0; second < 3; ++second) {
                  std::raise(SIGXCPU);
                  sleep_seconds(0.1);
              }
              if (requests.reason() != StopReason::by_signal(SIGXCPU)) ::_exit(1);
          }) == 0);
}

TEST_CASE("a hangup that is ignored at the start, as nohup has it, stays ignored, also afterwards") {
    CHECK(exit_code_of([] {
              std::signal(SIGHUP, SIG_IGN);
              {
                  StopRequest requests;
                  requests.await_requests();
                  std::raise(SIGHUP);
                  if (requests.reason()) ::_exit(1);
              }
              std::raise(SIGHUP);
          }) == 0);
}

TEST_CASE("a stop request arrives although the process was started with the signal blocked") {
    CHECK(exit_code_of([] {
              sigset_t all;
              ::sigfillset(&all);
              ::sigprocmask(SIG_SETMASK, &all, nullptr);
              StopRequest requests;
              requests.await_requests();
              std::raise(SIGTERM);
              if (requests.reason() != StopReason::by_signal(SIGTERM)) ::_exit(1);
          }) == 0);
}

TEST_CASE("a standard error without a reader does not hold up a stop request") {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const std::string page(4096, 'x');
    while (::write(ends[1], page.data(), page.size()) > 0) {}  // until it is full
    ::fcntl(ends[1], F_SETFL, 0);
    CHECK(exit_code_of([&] {
              ::alarm(120);
              ::dup2(ends[1], STDERR_FILENO);
              StopRequest requests(0.05);
              requests.await_requests();
              std::raise(SIGTERM);
              sleep_seconds(0.1);
              std::raise(SIGTERM);
          }) == 143);
    ::close(ends[0]);
    ::close(ends[1]);
}
