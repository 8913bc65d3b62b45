#include "parallel/courier.h"

#include <chrono>
#include <utility>

#include "core/clock.h"
#include "core/error.h"

namespace bertpretrain {
struct Courier::Job {
    std::function<void()> run;
    bool done = false;
};

struct Courier::State {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::shared_ptr<Job>> queue;
    std::exception_ptr failure;
    bool closed = false;
    double busy_seconds = 0, waited_seconds = 0;
};

class Courier::Delivery final : public Pending {
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

Courier::Courier() : state_(std::make_shared<State>()), thread_([state = state_] { work(state); }) {}

Courier::~Courier() {
    bool hopeless = std::uncaught_exceptions() > 0;
    {
        const std::lock_guard lock(state_->mutex);
        state_->closed = true;
        hopeless = hopeless || state_->failure;
    }
    state_->changed.notify_all();
    if (hopeless) thread_.detach();
    else thread_.join();
}

std::unique_ptr<Pending> Courier::send(std::function<void()> run) {
    auto job = std::make_shared<Job>(Job{std::move(run)});
    {
        const std::lock_guard lock(state_->mutex);
        state_->queue.push_back(job);
    }
    state_->changed.notify_all();
    return std::make_unique<Delivery>(state_, std::move(job));
}

void Courier::work(const std::shared_ptr<State>& state) {
    std::unique_lock lock(state->mutex);
    for (;;) {
        state->changed.wait(lock, [&] { return !state->queue.empty() || state->closed; });
        if (state->queue.empty() || state->failure) return;
        const std::shared_ptr<Job> job = std::move(state->queue.front());
        state->queue.pop_front();
        lock.unlock();
        const double begin = seconds_now();
        std::exception_ptr failure;
        try {
            std::exchange(job->run, nullptr)();  // what it holds goes with it
        } catch (...) { failure = std::current_exception(); }
        lock.lock();
        state->busy_seconds += seconds_now() - begin;
        job->done = !failure;
        state->failure = failure;
        state->changed.notify_all();
    }
}

double Courier::busy_seconds() const {
    const std::lock_guard lock(state_->mutex);
    return state_->busy_seconds;
}

double Courier::waited_seconds() const {
    const std::lock_guard lock(state_->mutex);
    return state_->waited_seconds;
}

}  // namespace bertpretrain
