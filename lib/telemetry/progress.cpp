#include "telemetry/progress.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "core/concat.h"
#include "core/output/displayable.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr std::size_t steps_for_eta = 50;    // the eta assumes the mean duration of this many steps
constexpr double seconds_per_drawing = 0.1;  // drawing more often only flickers

std::string scientific(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2e", number);
    return text;
}

/// Returns "" for a model that does not predict next sentences.
std::string nsp_text(const auto& record) { return record.next_sentence ? concat(" | nsp ", fixed(record.nsp_loss, 4)) : ""; }

}  // namespace

std::string step_line(const StepRecord& record, std::int64_t total_steps, double eta_seconds) {
    return concat("step ", record.step, "/", total_steps, " | loss ", fixed(record.loss, 4), " | mlm ", fixed(record.mlm_loss, 4),
                  nsp_text(record), " | lr ", scientific(record.learning_rate), " | ", fixed(record.sequences_per_second, 1),
                  " seq/s | eta ", duration_text(eta_seconds));
}

std::string evaluation_line(const EvaluationRecord& record) {
    std::string line = concat("held-out step ", record.step, " | mlm ", fixed(record.mlm_loss, 4), " | accuracy ",
                              fixed(record.mlm_accuracy, 4), " | perplexity ", fixed(record.perplexity, 1), nsp_text(record));
    for (const HeldOutSourceRecord& source : record.sources)
        line += concat(&source == record.sources.data() ? " | mlm by source: " : ", ", displayable(source.name), " ",
                       fixed(source.mlm_loss, 4));
    if (const auto& probe = record.probe)
        line += concat(" | probe ", fixed(100 * probe->accuracy, 2), " % (", fixed(100 * probe->accuracy_low, 2), " to ",
                       fixed(100 * probe->accuracy_high, 2), "), ", duration_text(probe->seconds));
    return line;
}

Progress::Progress(std::int64_t total_steps, double interval_seconds, ProgressOutput output, StepsLeft steps_left)
    : total_steps_(total_steps),
      steps_left_(std::move(steps_left)),
      interval_seconds_(interval_seconds),
      output_(std::move(output)) {}

Progress::~Progress() {
    if (is_drawn_) output_.draw("\n");
}

void Progress::show(const StepRecord& record) {
    const double eta = eta_seconds(record);
    const double now = output_.seconds();
    const double interval = output_.is_terminal ? seconds_per_drawing : interval_seconds_;
    if (last_shown_ && now - *last_shown_ < interval && record.step < total_steps_) return;
    last_shown_ = now;
    if (output_.is_terminal) {
        output_.draw(clear_line + drawn_line(record, eta));
        is_drawn_ = true;
    } else {
        output_.say(step_line(record, total_steps_, eta));
    }
}

void Progress::show(const EvaluationRecord& record) {
    clear();
    output_.say(evaluation_line(record));
}

void Progress::clear() {
    if (is_drawn_) output_.draw(clear_line);
    is_drawn_ = false;
}

double Progress::eta_seconds(const StepRecord& record) {
    last_step_seconds_.push_back(record.step_seconds);
    if (last_step_seconds_.size() > steps_for_eta) last_step_seconds_.pop_front();
    const double sum = std::accumulate(last_step_seconds_.begin(), last_step_seconds_.end(), 0.0);
    const double mean = sum / static_cast<double>(last_step_seconds_.size());
    if (steps_left_) return mean * steps_left_(record.step);
    return mean * static_cast<double>(std::max<std::int64_t>(0, total_steps_ - record.step));
}

std::string Progress::drawn_line(const StepRecord& record, double eta) const {
    constexpr std::int64_t widest_bar = 20;
    const std::int64_t width = output_.columns < 100 ? widest_bar / 2 : widest_bar;
    const std::int64_t done = total_steps_ > 0 ? std::clamp<std::int64_t>(record.step * width / total_steps_, 0, width) : width;
    std::string line = concat("[", std::string(static_cast<std::size_t>(done), '='),
                              std::string(static_cast<std::size_t>(width - done), ' '), "] ", record.step, "/", total_steps_);
    // The most useful first: what the terminal has no room for is left out, since a wrapped line cannot be redrawn in place.
    for (const std::string& field :
         {concat("eta ", duration_text(eta)), concat("loss ", fixed(record.loss, 4)),
          concat(fixed(record.sequences_per_second, 1), " seq/s"), concat(fixed(record.model_tflops_per_second, 2), " TFLOP/s"),
          record.mfu > 0 ? concat("mfu ", fixed(100 * record.mfu, 1), " %") : std::string{}}) {
        if (field.empty() || line.size() + 3 + field.size() >= output_.columns) break;
        line += " | " + field;
    }
    if (line.size() >= output_.columns) line.resize(output_.columns - 1);
    return line;
}

}  // namespace bertpretrain
