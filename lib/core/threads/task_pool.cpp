#include "core/threads/task_pool.h"

namespace bertpretrain {

TaskPool::TaskPool(std::size_t threads) {
    for (std::size_t t = 1; t < threads; ++t) helpers_.emplace_back([this](const std::stop_token& stop) { help(stop); });
}

TaskPool::~TaskPool() {
    for (std::jthread& helper : helpers_) helper.request_stop();
    const std::lock_guard lock(guard_);
    tasks_.clear();
}

void TaskPool::add(std::function<void()> task) {
    {
        const std::lock_guard lock(guard_);
        tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
}

bool TaskPool::run_one() {
    std::function<void()> task;
    {
        const std::lock_guard lock(guard_);
        if (tasks_.empty()) return false;
        task = std::move(tasks_.front());
        tasks_.pop_front();
    }
    task();
    return true;
}

void TaskPool::help(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        {
            std::unique_lock lock(guard_);
            changed_.wait(lock, stop, [&] { return !tasks_.empty(); });
        }
        if (!stop.stop_requested()) run_one();
    }
}

}  // namespace bertpretrain
