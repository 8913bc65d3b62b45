#include "kernels/cpu/operation_threads.h"

#include <memory>

#include <ATen/Parallel.h>

namespace bertpretrain::cpu {
namespace {

thread_local bool inside_operation = false;
thread_local std::unique_ptr<ForkJoinPool> pool;

}  // namespace

std::int64_t operation_threads() { return inside_operation || at::in_parallel_region() ? 1 : at::get_num_threads(); }

ForkJoinPool& operation_pool(std::int64_t threads) {
    const auto needed = static_cast<std::size_t>(threads);
    if (pool == nullptr || pool->threads() < needed) pool = std::make_unique<ForkJoinPool>(needed);
    return *pool;
}

InsideOperation::InsideOperation() { inside_operation = true; }
InsideOperation::~InsideOperation() { inside_operation = false; }

}  // namespace bertpretrain::cpu
