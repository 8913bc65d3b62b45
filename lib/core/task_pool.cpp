#include "core/task_pool.h"

namespace bertpretrain {

TaskPool::TaskPool(std::size_t threads) {
    for (std::size_t t = 1; t < threads; ++t) helpers_.emplace_back([this] { help(); });
}

TaskPool::~TaskPool() {
    {
        const std::lock_guard lock(guard_);
        stops_ = true;
        tasks_.clear();
    }
    changed_.notify_all();
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

void TaskPool::help() {
    while (true) {
        {
            std::unique_lock lock(guard_);
            changed_.wait(lock, [&] { return stops_ || !tasks_.empty(); });
            if (stops_) return;
        }
        run_one();
    }
}

}  // namespace bertpretrain
