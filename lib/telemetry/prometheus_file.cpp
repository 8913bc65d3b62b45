#include "telemetry/prometheus_file.h"

#include <cmath>
#include <cstdio>

#include "core/error.h"
#include "core/files.h"
#include "core/log.h"

namespace bertpretrain {
namespace {

constexpr double seconds_between_writes = 10;  // Prometheus asks every 15 to 60

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

std::string gauge(const std::string& key, const std::string& help, const std::string& run, double value) {
    const std::string name = "bertpretrain_" + key;
    return concat("# HELP ", name, " ", help, "\n# TYPE ", name, " gauge\n", name, "{run=\"", label_value(run), "\"} ",
                  number_text(value), "\n");
}

}  // namespace

PrometheusFile::~PrometheusFile() {
    if (is_due_) write(step_.time);
}

void PrometheusFile::show(const StepRecord& record) {
    step_ = record;
    is_due_ = true;
    if (record.time - written_ >= seconds_between_writes) write(record.time);
}

void PrometheusFile::show(const EvaluationRecord& record) {
    evaluation_ = record;
    is_due_ = true;
}

std::string PrometheusFile::text() const {
    std::string text = gauge("total_steps", "Steps of the whole run.", run_, static_cast<double>(total_steps_));
    StepRecord::fields(step_, [&](const std::string& key, const auto& value) {
        const bool is_time = key == "time";
        text += gauge(is_time ? "last_step_timestamp_seconds" : key,
                      is_time ? "When the last step ended, seconds since 1970." : "Of the last step, as in metrics.jsonl.", run_,
                      static_cast<double>(value));
    });
    if (!evaluation_) return text;
    EvaluationRecord::fields(*evaluation_, [&](const std::string& key, const auto& value) {
        if (key.starts_with("held_out_"))
            text += gauge(key, "Of the last evaluation, as in metrics.jsonl.", run_, static_cast<double>(value));
    });
    return text + gauge("held_out_step", "Step of the last evaluation.", run_, static_cast<double>(evaluation_->step));
}

void PrometheusFile::write(double time) {
    if (is_broken_) return;
    try {
        write_atomically(file_, text());
        written_ = time;
        is_due_ = false;
    } catch (const std::exception& error) {  // also called while the run is taken apart
        is_broken_ = true;
        log_warning(concat(error.what(), "; the run goes on without it"));
    }
}

}  // namespace bertpretrain
