// How a run ends: its last save, what it waits for, and its records.

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/error.h"
#include "core/output/log.h"
#include "parallel/together.h"
#include "train/stop/hung_run.h"
#include "train/trainer.h"

namespace bertpretrain {

void Trainer::finish() {
    if (parts_.world->agree_on_largest(records_->lost_folder() ? 1 : 0) != 0) leave_lost_folder("");
    if (parts_.is_last_phase) limit_.reset();  // noticed after the last step: there is nothing left to stop
    records_->clear_progress();
    tell_target();
    records_->event("finish", {{"step", step_}});
    records_->draw_losses(true);
    double end = seconds_now() + settings().checkpoint.mirror_seconds;
    const auto end_or_signal = [&] {
        if (requests_.reason()) end = std::min(end, seconds_now() + settings().checkpoint.stop_grace_seconds);
        return end;
    };
    finish_mirror(end_or_signal);
    end = std::numeric_limits<double>::infinity();
    const Wait commands = [&](const auto& until) { saver_.finish_commands(until); };
    if (!parts_.is_last_phase) wait_for_first(end_or_signal, commands);
    leave({});
    if (parts_.is_last_phase) commands(end_or_signal);  // only rank 0 stays for them
}

int Trainer::stop(StopReason reason) {
    const double noticed = seconds_now();
    if (reason.kind == StopReason::Kind::signal || reason.kind == StopReason::Kind::limit) {
        save(false);
        clock_.enter(Phase::none);
        // Before the others leave: a launcher would take this rank for one that hangs.
        const CheckpointConfig& checkpoint = settings().checkpoint;
        const double grace = std::min(checkpoint.stop_grace_seconds, settings().parallel.timeout_seconds / 2);
        const auto end = [end = noticed + grace] { return end; };
        finish_mirror(end);
        saver_.finish_commands(end);
        if (reason.signal != 0)  // a run that stops at a limit still reports
            limit_leaving(seconds_to_leave, 128 + reason.signal, concat("stopped by signal ", reason.signal));
        return leave(reason);
    }
    std::string trouble;
    try {
        if (reason.kind == StopReason::Kind::folder_moved) save(false);
    } catch (const Error& error) {  // on all ranks
        if (error.code() != ExitCode::checkpoint) throw;
        trouble = error.what();
    }
    leave_lost_folder(trouble);
}

void Trainer::wait_for_first(const std::function<double()>& end, const Wait& wait) {
    clock_.enter(Phase::none);
    const std::chrono::duration<double> between_signs(settings().parallel.timeout_seconds / 4);
    run_at_first(*parts_.world, between_signs, [&](const std::function<void()>& sign_of_life) {
        wait([&] {
            sign_of_life();
            return end();
        });
    });
}

void Trainer::finish_mirror(const std::function<double()>& end) {
    wait_for_first(end, [&](const auto& until) { saver_.finish_mirror(until); });
}

void Trainer::leave_lost_folder(const std::string& trouble) {
    std::string message;
    if (const auto lost = records_->lost_folder()) message = message_of(*lost, parts_.folder->paths());
    message = parts_.world->text_of_first(message);
    leave({});
    throw CheckpointError(trouble.empty() ? message : concat(message, "\n  the last steps are not saved: ", trouble));
}

void Trainer::attempt(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        if (parts_.world->rank() == 0) log_error(error.what());
    }
}

void Trainer::save_and_rethrow(const std::exception_ptr& failure) {
    attempt([&] { save(false); });
    std::rethrow_exception(failure);
}

int Trainer::leave(StopReason reason) {
    const int signal = reason.signal;
    if (reason) {
        records_->clear_progress();
        const std::string cause = limit_ ? "its limit" : concat("signal ", signal);
        if (parts_.world->rank() == 0)
            log_warning(concat("stopped by ", cause, " after step ", step_, "; ",
                               step_ == 0 ? "there is nothing to save; the same command starts again"
                                          : concat("its checkpoint is saved in ",
                                                   (parts_.folder->paths().checkpoints() / step_folder_name(step_)).string(),
                                                   "; the same command resumes from it"),
                               limit_ ? concat("\n  why: ", *limit_, "\n  do: raise the limit to train on") : ""));
        nlohmann::ordered_json details{{"step", step_}, {"signal", signal}};
        if (limit_) details["limit"] = *limit_;
        records_->event("stop", std::move(details));
    }
    clock_.enter(Phase::saving);
    finish_records(static_cast<bool>(reason));
    clock_.enter(Phase::communication);
    parts_.step->settle_all_ranks();  // no rank leaves while another still needs its connections
    clock_.enter(Phase::none);
    return signal;
}

void Trainer::finish_records(bool is_stopped) {
    together(*parts_.world, [&] {
        try {
            records_->finish();
        } catch (const DataError& error) {
            if (!is_stopped && !records_->lost_folder()) throw;
            log_error(error.what());  // the exit code tells why the run was stopped
        }
    });
}

void Trainer::set_unverified_aside(const HardwareError& error, std::int64_t step) {
    const std::int64_t agreed = cross_check_.agreed_step();
    const bool leads = parts_.world->rank() == 0;
    nlohmann::ordered_json details{{"step", step}, {"agreed_step", agreed}, {"suspects", to_json(error.suspects)}};
    details["cause"] = error.what();
    records_->event("hardware_fault", std::move(details));
    attempt([&] {
        clock_.enter(Phase::saving);
        saver_.make_room();
    });
    saver_.abandon_mirrored_after(agreed);
    attempt([&] {
        const auto no_limit = [] { return std::numeric_limits<double>::infinity(); };
        wait_for_first(no_limit, [&](const auto& end) { saver_.finish_commands_after(agreed, end); });
    });
    attempt([&] {
        clock_.enter(Phase::saving);
        together(*parts_.world, [&] {
            if (!leads) return;
            parts_.folder->require();
            const CheckpointStore store(parts_.folder->paths().checkpoints());
            if (const auto aside = store.set_aside_after(agreed, "unverified"))
                log_warning(concat("the checkpoints after step ", agreed, ", which no check has confirmed, were moved to ",
                                   aside->string(), ": the run does not use them any more"));
        });
    });
}

}  // namespace bertpretrain
