// The endpoint that serves a run's last numbers by HTTP.
#include "telemetry/metrics_endpoint.h"

#include <atomic>
#include <thread>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::unique_ptr<MetricsEndpoint> serve(const std::string& address) {
    auto endpoint = std::make_unique<MetricsEndpoint>(address, "r", 20);
    endpoint->show(StepRecord{.step = 7, .loss = 1});
    return endpoint;
}

/// Returns the response if it arrives within 20 s, else an empty text.
std::string fetch(const std::string& url) {
    return run_command(concat(PYTHON " -c \"import urllib.request as r; print(r.urlopen('", url,
                              "', timeout=20).read().decode(), end='')\""))
        .out;
}

std::uint16_t port_of(const std::string& url) { return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1))); }

/// Connects to a port of this host and sends the start of a request.
int begin_request(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::send(socket, "GET /met", 8, MSG_NOSIGNAL) == 8);
    return socket;
}

const std::string exported_step = "bertpretrain_step{run=\"r\"} 7\n";

}  // namespace

TEST_CASE("clients that never finish their request do not block others", "[system]") {
    const auto endpoint = serve("127.0.0.1:0");
    std::vector<int> slow;
    for (int i = 0; i < 40; ++i) slow.push_back(begin_request(port_of(endpoint->url())));
    std::atomic<bool> over = false;
    const bool drip = GENERATE(false, true);
    std::thread sender([&] {
        while (drip && !over) {
            for (const int one : slow) static_cast<void>(::send(one, "r", 1, MSG_NOSIGNAL | MSG_DONTWAIT));
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
        }
    });
    const std::string fetched = fetch(endpoint->url());
    over = true;
    sender.join();
    CHECK(fetched.find(exported_step) != std::string::npos);
    for (const int one : slow) ::close(one);
}

TEST_CASE("a port alone means the loopback interface, and port 0 a free port that the URL shows", "[system]") {
    for (const std::string address : {"0", ":0", "localhost:0", "127.0.0.1:0"}) {
        CAPTURE(address);
        const auto endpoint = serve(address);
        CHECK(endpoint->url().find("http://127.0.0.1:") == 0);
        CHECK(port_of(endpoint->url()) != 0);
        CHECK(fetch(endpoint->url()).find(exported_step) != std::string::npos);
    }
}

TEST_CASE("anything but an address with a port is refused") {
    for (const std::string address : {"", "+9400", "9400s", "127.0.0.1", "127.0.0.1:", "127.0.0.1:9400,0.0.0.0:9401", "host:9400",
                                      "::1:9400", "127.0.0.1:70000", "127.0.0.1:-1"}) {
        CAPTURE(address);
        CHECK_THROWS_WITH(MetricsEndpoint(address, "r", 20),
                          Catch::Contains("--metrics-address " + address + ": this is neither"));
    }
}

TEST_CASE("the last numbers are served by HTTP, and a port in use is refused") {
    const auto endpoint = serve("127.0.0.1:0");
    CHECK_THROWS_WITH(MetricsEndpoint(concat("127.0.0.1:", port_of(endpoint->url())), "other", 20),
                      Catch::Contains("cannot listen there"));
    endpoint->show(EvaluationRecord{.step = 7, .mlm_loss = 2.5});
    const std::string text = fetch(endpoint->url());
    CHECK(text.find(exported_step) != std::string::npos);
    CHECK(text.find("bertpretrain_held_out_mlm_loss{run=\"r\"} 2.5\n") != std::string::npos);
    CHECK(text.find("# TYPE bertpretrain_loss gauge\n") != std::string::npos);
}
