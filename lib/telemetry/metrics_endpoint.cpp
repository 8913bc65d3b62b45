#include "telemetry/metrics_endpoint.h"

#include "core/error.h"
#include "core/output/displayable.h"

#ifdef BERTPRETRAIN_HAS_PROMETHEUS
#include <charconv>
#include <mutex>

#include <arpa/inet.h>

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

namespace bertpretrain {
namespace {

/// Threads, so that slow clients block others only if there are this many, and then for seconds at most.
constexpr const char* workers = "16";
constexpr const char* most_milliseconds_per_request = "1000";

struct Address {
    std::string host;  ///< as in a URL: an IPv6 address is in brackets
    std::uint16_t port = 0;
};

bool is_number_of(int family, const std::string& text) {
    in6_addr room{};
    return ::inet_pton(family, text.c_str(), &room) == 1;
}

/// Parses --metrics-address strictly. The server's own parser would bind a port alone to all interfaces, and accepts lists and
/// options.
Address parse(const std::string& given) {
    const std::size_t colon = given.rfind(':');
    std::string host = colon == given.npos ? "" : given.substr(0, colon);
    const std::string port = colon == given.npos ? given : given.substr(colon + 1);
    if (host.empty() || host == "localhost") host = "127.0.0.1";
    Address address{host};
    const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    const bool is_port = failure == std::errc() && end == port.data() + port.size() && !port.empty();
    const bool has_brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (!is_port || !(has_brackets ? is_number_of(AF_INET6, host.substr(1, host.size() - 2)) : is_number_of(AF_INET, host)))
        throw ConfigError(concat("--metrics-address ", given, ": this is neither ADDRESS:PORT with a numeric address nor a port",
                                 "\n  do: use the form 127.0.0.1:9400, [::1]:9400 or 9400; a port alone means 127.0.0.1"));
    return address;
}

/// The latest numbers, written by the training thread and read by the server's threads.
class Numbers final : public prometheus::Collectable {
public:
    Numbers(std::string run, std::int64_t total_steps) : run_(std::move(run)) { numbers_.total_steps = total_steps; }

    template <class Change>
    void change(const Change& change) {
        const std::lock_guard lock(mutex_);
        change(numbers_);
    }

    std::vector<prometheus::MetricFamily> Collect() const override {
        const std::lock_guard lock(mutex_);
        std::vector<prometheus::MetricFamily> families;
        for_each_gauge(numbers_, [&](const Gauge& gauge) {
            prometheus::MetricFamily family;
            family.name = gauge.name;
            family.help = gauge.help;
            family.type = prometheus::MetricType::Gauge;
            for (const auto& [labels, value] : gauge.values) {
                prometheus::ClientMetric metric;
                metric.label = {{"run", run_}};
                for (const auto& [label, of] : labels) metric.label.push_back({label, displayable(of)});
                metric.gauge.value = value;
                family.metric.push_back(std::move(metric));
            }
            families.push_back(std::move(family));
        });
        return families;
    }

private:
    const std::string run_;
    mutable std::mutex mutex_;
    RunNumbers numbers_;
};

}  // namespace

struct MetricsEndpoint::Server {
    std::shared_ptr<Numbers> numbers;
    std::unique_ptr<prometheus::Exposer> exposer;
};

MetricsEndpoint::MetricsEndpoint(const std::string& address, std::string run, std::int64_t total_steps)
    : server_(std::make_unique<Server>()) {
    server_->numbers = std::make_shared<Numbers>(std::move(run), total_steps);
    try {
        const Address parsed = parse(address);
        host_ = parsed.host;
        server_->exposer = std::make_unique<prometheus::Exposer>(
            std::vector<std::string>{"listening_ports", concat(host_, ":", parsed.port), "num_threads", workers,
                                     "request_timeout_ms", most_milliseconds_per_request});
    } catch (const ConfigError&) { throw; } catch (const std::exception& error) {
        throw ConfigError(concat("--metrics-address ", address, ": this program cannot listen there (", error.what(),
                                 ")\n  do: use an address of this host and a free port, such as 127.0.0.1:9400"));
    }
    server_->exposer->RegisterCollectable(server_->numbers);
}

std::string MetricsEndpoint::url() const {
    return concat("http://", host_, ":", server_->exposer->GetListeningPorts().at(0), "/metrics");
}

void MetricsEndpoint::show(const StepRecord& record) {
    server_->numbers->change([&](RunNumbers& numbers) { numbers.take(record); });
}

void MetricsEndpoint::show(const EvaluationRecord& record) {
    server_->numbers->change([&](RunNumbers& numbers) { numbers.evaluation = record; });
}

void MetricsEndpoint::show(const SaveRecord& record) {
    server_->numbers->change([&](RunNumbers& numbers) { numbers.save = record; });
}

void MetricsEndpoint::show(const DevicesRecord& record) {
    server_->numbers->change([&](RunNumbers& numbers) { numbers.devices = record.ranks; });
}

void MetricsEndpoint::show_end() {
    server_->numbers->change([](RunNumbers& numbers) { numbers.has_ended = true; });
}

}  // namespace bertpretrain

#else

namespace bertpretrain {

struct MetricsEndpoint::Server {};

MetricsEndpoint::MetricsEndpoint(const std::string& address, std::string, std::int64_t) {
    throw ConfigError(concat("--metrics-address ", address, ": this program was built without prometheus-cpp\n  do: install it ",
                             "and build again, or read metrics.prom in the run's folder"));
}

std::string MetricsEndpoint::url() const { return ""; }
void MetricsEndpoint::show(const StepRecord&) {}
void MetricsEndpoint::show(const EvaluationRecord&) {}
void MetricsEndpoint::show(const SaveRecord&) {}
void MetricsEndpoint::show(const DevicesRecord&) {}
void MetricsEndpoint::show_end() {}

}  // namespace bertpretrain

#endif

bertpretrain::MetricsEndpoint::~MetricsEndpoint() = default;
