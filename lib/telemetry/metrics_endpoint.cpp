#include "telemetry/metrics_endpoint.h"

#include "core/error.h"

#ifdef BERTPRETRAIN_HAS_PROMETHEUS
#include <mutex>

#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include "telemetry/gauges.h"

namespace bertpretrain {
namespace {

/// Written by the training, read by the server's threads.
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
        for_each_gauge(numbers_, [&](const std::string& name, const std::string& help, double value) {
            prometheus::MetricFamily family;
            family.name = name;
            family.help = help;
            family.type = prometheus::MetricType::Gauge;
            family.metric.resize(1);
            family.metric[0].label = {{"run", run_}};
            family.metric[0].gauge.value = value;
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
        server_->exposer = std::make_unique<prometheus::Exposer>(address);
    } catch (const std::exception& error) {
        throw ConfigError(concat("--metrics-address ", address, ": nobody can listen there (", error.what(),
                                 ")\n  do: name an address of this host and a free port, such as 127.0.0.1:9400"));
    }
    server_->exposer->RegisterCollectable(server_->numbers);
}

void MetricsEndpoint::show(const StepRecord& record) {
    server_->numbers->change([&](RunNumbers& numbers) { numbers.step = record; });
}

void MetricsEndpoint::show(const EvaluationRecord& record) {
    server_->numbers->change([&](RunNumbers& numbers) { numbers.evaluation = record; });
}

}  // namespace bertpretrain

#else

namespace bertpretrain {

struct MetricsEndpoint::Server {};

MetricsEndpoint::MetricsEndpoint(const std::string& address, std::string, std::int64_t) {
    throw ConfigError(concat("--metrics-address ", address, ": this program was built without prometheus-cpp\n  do: install it ",
                             "and build again, or read metrics.prom in the run's folder"));
}

void MetricsEndpoint::show(const StepRecord&) {}
void MetricsEndpoint::show(const EvaluationRecord&) {}

}  // namespace bertpretrain

#endif

bertpretrain::MetricsEndpoint::~MetricsEndpoint() = default;
