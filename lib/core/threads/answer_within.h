#pragma once
// A question to something that may never answer.

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "core/threads/detached_worker.h"

namespace bertpretrain {

/// Returns when to give up what has a time limit of its own that it may not keep: 5 s after it, or as long again if it is
/// shorter. So its own limit comes first, whose message says more.
inline std::chrono::milliseconds with_grace(std::chrono::milliseconds timeout) {
    return timeout + std::min<std::chrono::milliseconds>(timeout, std::chrono::seconds(5));
}

/// Runs question() on the worker's thread.
/// @param question must own what it uses: its thread may wait for ever
/// @returns the answer, which get() returns or throws at once; nothing if there is none within `limit`
template <class Question>
auto answer_within(DetachedWorker& worker, std::chrono::milliseconds limit, Question question) {
    const auto task = std::make_shared<std::packaged_task<decltype(question())()>>(std::move(question));
    std::optional answer = task->get_future();
    worker.post([task] { (*task)(); });
    if (answer->wait_for(limit) != std::future_status::ready) answer.reset();
    return answer;
}

}  // namespace bertpretrain
