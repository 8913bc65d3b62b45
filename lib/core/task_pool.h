#pragma once
// Threads that work ahead for an owner who takes the results in order.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace bertpretrain {

/// Tasks run in the order in which they were given, on `threads` threads of which the owner is one: it works while it waits.
/// With one thread everything runs in wait(). Only the owner may call submit() and wait(); tasks wait for nothing.
class TaskPool {
public:
    explicit TaskPool(std::size_t threads);
    TaskPool(const TaskPool&) = delete;
    TaskPool& operator=(const TaskPool&) = delete;
    ~TaskPool();  ///< tasks that have not begun are dropped

    std::size_t threads() const { return helpers_.size() + 1; }

    template <class Work>
    std::future<std::invoke_result_t<Work>> submit(Work work) {
        const auto task = std::make_shared<std::packaged_task<std::invoke_result_t<Work>()>>(std::move(work));
        auto result = task->get_future();
        add([task] { (*task)(); });
        return result;
    }

    /// The result of a task; throws what the task threw.
    template <class Result>
    Result wait(std::future<Result>& result) {
        while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready && run_one()) {}
        return result.get();
    }

private:
    void add(std::function<void()> task);
    bool run_one();  ///< false when no task waits
    void help();

    std::mutex guard_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    bool stops_ = false;
    std::vector<std::jthread> helpers_;
};

}  // namespace bertpretrain
