#include "telemetry/prometheus_file.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"

namespace bertpretrain {
namespace {

constexpr double seconds_between_writes = 10;  // Prometheus usually scrapes every 15 to 60 seconds

std::string label_value(const std::string& text) {
    std::string safe;
    for (const char c : text) {
        if (c == '\\' || c == '"') safe += '\\';
        if (c == '\n') safe += "\\n";
        else safe += c;
    }
    return safe;
}

std::string number_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
    char text[32];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

}  // namespace

PrometheusFile::~PrometheusFile() { finish(); }

void PrometheusFile::finish() {
    if (is_due_) write();
}

void PrometheusFile::show(const StepRecord& record) {
    numbers_.take(record);
    is_due_ = true;
    if (!written_ || seconds_() - *written_ >= seconds_between_writes) write();
}

void PrometheusFile::show(const EvaluationRecord& record) {
    numbers_.evaluation = record;
    is_due_ = true;
}

void PrometheusFile::show(const SaveRecord& record) {
    numbers_.save = record;
    is_due_ = true;
}

void PrometheusFile::show(const DevicesRecord& record) {
    numbers_.devices = record.ranks;
    is_due_ = true;
}

void PrometheusFile::show_end() {
    numbers_.has_ended = true;
    is_due_ = true;
}

std::string PrometheusFile::text() const {
    std::string text;
    for_each_gauge(numbers_, [&](const Gauge& gauge) {
        text += concat("# HELP ", gauge.name, " ", gauge.help, "\n# TYPE ", gauge.name, " gauge\n");
        for (const auto& [labels, value] : gauge.values) {
            std::string more;
            for (const auto& [label, of] : labels) more += concat(",", label, "=\"", label_value(displayable(of)), "\"");
            text += concat(gauge.name, "{run=\"", label_value(run_), "\"", more, "} ", number_text(value), "\n");
        }
    });
    return text;
}

void PrometheusFile::write() {
    if (has_given_up_) return;
    try {
        write_atomically(file_, text());
        written_ = seconds_();
        is_due_ = false;
    } catch (const std::exception& error) {  // also called by the destructor
        written_ = seconds_();
        if (!std::exchange(has_warned_, true))
            log_warning(concat(error.what(), "; the run continues, and writes this file again when that works"));
    }
}

}  // namespace bertpretrain
