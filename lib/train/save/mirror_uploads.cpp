#include "train/save/mirror_uploads.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/threads/threads.h"

namespace bertpretrain {
namespace {

constexpr double abandon_seconds = 30;  ///< time limit of abandon_after()
constexpr double line_every_seconds = 1;
constexpr double first_pause_seconds = 0.1, longest_pause_seconds = 10;  ///< of finish(), before a repeated upload

struct Upload {
    std::int64_t step = 0;
    std::filesystem::path folder;
};

}  // namespace

struct MirrorUploads::State {
    std::shared_ptr<CheckpointMirror> mirror;
    std::int64_t keep = 1;

    std::mutex mutex;  ///< protects all below
    std::condition_variable changed;
    bool ends = false;
    std::optional<Upload> waiting, running, failed;  ///< failed: the newest, where it is not in the mirror
    bool may_pass = true;                            ///< whether the failure of `failed` may pass
    double failed_at = 0;                            ///< seconds_now()
    std::optional<std::int64_t> abandon;             ///< a step of abandon_after(), to do before the next upload
    std::string abandon_failure;
    std::stop_source stop;  ///< of the transfer in progress
    std::vector<Result> results;

    bool is_idle() const { return !waiting && !running && !abandon; }
    void upload_again();
    void work();
};

/// Uploads the newest checkpoint again. Its result replaces that of the failure.
void MirrorUploads::State::upload_again() {
    const std::int64_t step = failed->step;
    for (const Result& result : results)
        if (result.step == step && !result.failure.empty())
            log_warning(concat("the checkpoint of step ", step, " is uploaded to ", mirror->url().text(),
                               " again, because that failed: ", result.failure));
    std::erase_if(results, [&](const Result& result) { return result.step == step && !result.failure.empty(); });
    waiting = std::exchange(failed, std::nullopt);
}

MirrorUploads::MirrorUploads(std::shared_ptr<CheckpointMirror> mirror, std::int64_t keep) : state_(std::make_shared<State>()) {
    state_->mirror = std::move(mirror);
    state_->keep = keep;
    thread_.post(run_at_low_priority);
}

MirrorUploads::~MirrorUploads() {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
    state_->stop.request_stop();
}

/// Does what is to be done: abandons a step or uploads the waiting checkpoint. Posted once for each of them; a checkpoint that
/// took the place of another leaves nothing for the second call.
void MirrorUploads::State::work() {
    std::unique_lock lock(mutex);
    if (ends || (!abandon && !waiting)) return;
    const std::stop_token token = (stop = std::stop_source()).get_token();
    const std::optional<std::int64_t> abandoned = abandon;
    if (!abandoned) running = std::exchange(waiting, std::nullopt);
    const std::optional<Upload> upload = running;
    lock.unlock();
    Result result;
    bool passes = true;
    const double begin = seconds_now();
    try {
        if (abandoned) {
            mirror->abandon_after(*abandoned, token);
        } else {
            result.step = upload->step;
            result.sent = mirror->send(upload->step, upload->folder, keep, token);
        }
    } catch (const std::exception& error) {
        result.failure = error.what();
        passes = dynamic_cast<const ConfigError*>(&error) == nullptr && dynamic_cast<const DataError*>(&error) == nullptr;
    }
    result.seconds = seconds_now() - begin;
    lock.lock();
    if (abandoned) {
        abandon.reset();
        abandon_failure = result.failure;
    } else {
        running.reset();
        failed = result.failure.empty() ? std::nullopt : upload;
        may_pass = passes;
        failed_at = seconds_now();
        if (!ends) results.push_back(std::move(result));  // else finish() has reported it
    }
    changed.notify_all();
}

void MirrorUploads::post() {
    thread_.post([state = state_] { state->work(); });
}

void MirrorUploads::start(std::int64_t step, const std::filesystem::path& folder) {
    const std::lock_guard lock(state_->mutex);
    if (state_->waiting) state_->results.push_back({.step = state_->waiting->step, .is_skipped = true});
    state_->waiting = Upload{step, folder};
    post();
}

std::set<std::int64_t> MirrorUploads::in_use() const {
    const std::lock_guard lock(state_->mutex);
    std::set<std::int64_t> steps;
    for (const auto& upload : {state_->running, state_->waiting})
        if (upload) steps.insert(upload->step);
    return steps;
}

std::vector<MirrorUploads::Result> MirrorUploads::take_results() {
    const std::lock_guard lock(state_->mutex);
    return std::exchange(state_->results, {});
}

void MirrorUploads::finish(const std::function<double()>& end) {
    double line_at = seconds_now() + line_every_seconds;
    int repetitions = 0;
    std::unique_lock lock(state_->mutex);
    const auto is_finished = [&] { return state_->is_idle() && (!state_->failed || (repetitions > 0 && !state_->may_pass)); };
    while (!is_finished() && seconds_now() < end()) {
        const double pause = std::min(longest_pause_seconds, first_pause_seconds * std::pow(2, repetitions));
        if (state_->is_idle() && (repetitions == 0 || seconds_now() >= state_->failed_at + pause)) {
            state_->upload_again();
            post();
            ++repetitions;
        }
        if (seconds_now() > line_at) {
            log_info(concat("waiting until the newest checkpoint is in ", state_->mirror->url().text()));
            line_at = std::numeric_limits<double>::infinity();
        }
        state_->changed.wait_for(lock, std::chrono::milliseconds(20));
    }
    if (state_->is_idle()) return;
    state_->ends = true;
    state_->stop.request_stop();
    for (const auto& upload : {state_->running, std::exchange(state_->waiting, std::nullopt)})
        if (upload)
            state_->results.push_back({.step = upload->step, .failure = "the time limit for the end of the run was reached"});
}

std::string MirrorUploads::abandon_after(std::int64_t step) {
    std::unique_lock lock(state_->mutex);
    if (state_->waiting && state_->waiting->step > step) state_->waiting.reset();
    if (state_->running && state_->running->step > step) state_->stop.request_stop();
    state_->failed.reset();
    state_->abandon = step;
    post();
    const auto limit = std::chrono::duration<double>(abandon_seconds);
    if (state_->changed.wait_for(lock, limit, [&] { return !state_->abandon; })) return state_->abandon_failure;
    state_->stop.request_stop();
    return "the store did not answer in time";
}

}  // namespace bertpretrain
