#pragma once
// A pool of threads that work ahead of the owner, which takes their results in order.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace bertpretrain {

/// Starts tasks in the order of submission, on `threads` threads. The owner's thread is one of them: it runs tasks while it
/// waits, and with one thread every task runs in wait(). Only the owner may call submit() and wait(). Tasks must not block.
class TaskPool {
public:
    /// @throws std::system_error when the system has no more threads; the threads already started have then ended
    explicit TaskPool(std::size_t threads);
    TaskPool(const TaskPool&) = delete;
    TaskPool& operator=(const TaskPool&) = delete;
    ~TaskPool();  ///< drops the tasks that have not started, and waits for those that have

    std::size_t threads() const { return helpers_.size() + 1; }

    template <class Work>
    std::future<std::invoke_result_t<Work>> submit(Work work) {
        const auto task = std::make_shared<std::packaged_task<std::invoke_result_t<Work>()>>(std::move(work));
        auto result = task->get_future();
        add([task] { (*task)(); });
        return result;
    }

    /// Returns the result of a task, or rethrows its exception. Blocks until it is done, and runs waiting tasks meanwhile.
    template <class Result>
    Result wait(std::future<Result>& result) {
        while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready && run_one()) {}
        return result.get();
    }

private:
    void add(std::function<void()> task);
    bool run_one();  ///< returns false when no task is waiting
    void help(const std::stop_token& stop);

    std::mutex guard_;
    std::condition_variable_any changed_;
    std::deque<std::function<void()>> tasks_;
    std::vector<std::jthread> helpers_;  ///< the last member: its destructor stops and joins them, also if the constructor throws
};

}  // namespace bertpretrain
