#include "parallel/async_queue.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "telemetry/trace.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_under_way = 2;

}  // namespace

struct AsyncQueue::Job {
    AsyncTask task;
    std::function<void()> arrival;  ///< blocks until the operation has completed; set when the task has begun
    bool done = false;
};

struct AsyncQueue::State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<Job>> queue, under_way;
    std::exception_ptr failure;
    double busy_seconds = 0, waited_seconds = 0, busy_since = 0;

    bool may_begin(const Job& job) const {
        if (failure || under_way.size() >= most_under_way) return false;
        if (!job.task.sends_results) return true;
        for (const auto& other : under_way)
            if (other->task.finish) return false;
        return true;
    }

    /// Begins all tasks that may begin. The caller holds the mutex.
    void begin_what_may() {
        while (!queue.empty() && may_begin(*queue.front())) {
            const std::shared_ptr<Job> job = std::move(queue.front());
            queue.pop_front();
            if (under_way.empty()) busy_since = seconds_now();
            try {
                job->arrival = std::exchange(job->task.begin, nullptr)();
            } catch (...) {
                failure = std::current_exception();
                changed.notify_all();
            }
            under_way.push_back(job);
        }
    }

    /// Removes the oldest task in flight, which has completed or failed. The caller holds the mutex.
    void take_off(Job& job, std::exception_ptr error) {
        job.done = !error;
        job.arrival = nullptr;  // frees the tensors that the closures hold
        job.task.finish = nullptr;
        if (error) failure = error;
        under_way.pop_front();
        if (under_way.empty()) busy_seconds += seconds_now() - busy_since;
    }

    /// Completes the oldest task: its turn has come, so it is in flight unless a task has failed.
    void complete_next() {
        std::unique_lock lock(mutex);
        if (failure) return;
        const std::shared_ptr<Job> job = under_way.front();
        lock.unlock();
        std::exception_ptr error;
        try {
            const TraceSpan span("on its way");
            job->arrival();
            if (job->task.finish) job->task.finish();
        } catch (...) { error = std::current_exception(); }
        lock.lock();
        take_off(*job, error);
        begin_what_may();
        changed.notify_all();
    }
};

class AsyncQueue::Delivery final : public Pending {
public:
    Delivery(std::shared_ptr<State> state, std::shared_ptr<Job> job) : state_(std::move(state)), job_(std::move(job)) {}

    void wait() override {
        const double begin = seconds_now();
        std::unique_lock lock(state_->mutex);
        state_->changed.wait(lock, [&] { return job_->done || state_->failure; });
        state_->waited_seconds += seconds_now() - begin;
        if (!job_->done) std::rethrow_exception(state_->failure);
    }

private:
    std::shared_ptr<State> state_;
    std::shared_ptr<Job> job_;
};

AsyncQueue::AsyncQueue() : state_(std::make_shared<State>()), thread_(DetachedWorker::for_ever) {}

AsyncQueue::~AsyncQueue() {
    const std::lock_guard lock(state_->mutex);
    if (state_->failure || std::uncaught_exceptions() > 0) thread_.abandon();
}

std::unique_ptr<Pending> AsyncQueue::send(AsyncTask task) {
    auto job = std::make_shared<Job>(Job{std::move(task), nullptr, false});
    {
        const std::lock_guard lock(state_->mutex);
        state_->queue.push_back(job);
        state_->begin_what_may();
    }
    thread_.post([state = state_] { state->complete_next(); });
    return std::make_unique<Delivery>(state_, std::move(job));
}

double AsyncQueue::busy_seconds() const {
    const std::lock_guard lock(state_->mutex);
    return state_->busy_seconds;
}

double AsyncQueue::waited_seconds() const {
    const std::lock_guard lock(state_->mutex);
    return state_->waited_seconds;
}

}  // namespace bertpretrain
