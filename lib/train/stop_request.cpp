#include "train/stop_request.h"

#include <csignal>

#include <unistd.h>

namespace bertpretrain {
namespace {

// A handler may touch nothing but this.
volatile std::sig_atomic_t received = 0;

void remember(int number) {
    if (received != 0) ::_exit(128 + number);
    received = number;
}

}  // namespace

StopRequest::StopRequest() {
    received = 0;
    std::signal(SIGTERM, remember);
    std::signal(SIGINT, remember);
}

StopRequest::~StopRequest() {
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
}

int StopRequest::signal() const { return received; }

}  // namespace bertpretrain
