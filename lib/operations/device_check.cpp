#include "operations/device_check.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <ATen/ATen.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "core/clock.h"
#include "core/concat.h"
#include "kernels/matmul.h"

namespace bertpretrain {
namespace {

/// An operation and its expected result.
struct Task {
    std::string name;
    std::function<at::Tensor()> run;
    at::Tensor expected;  ///< on the host
    double amount = 0;    ///< floating-point operations or bytes per repetition
    double per_unit = 0;
    std::string unit;
};

/// Rows of A and columns of B repeat with periods that are coprime to each other and to the hardware's tile sizes.
constexpr std::int64_t period_a = 5, period_b = 7;
std::int64_t entry_a(std::int64_t row, std::int64_t k) { return (row % period_a * 2 + k) % 3 - 1; }
std::int64_t entry_b(std::int64_t k, std::int64_t column) { return (k * (column % period_b + 1) + column) % period_b % 3 - 1; }

at::Tensor filled(std::int64_t rows, std::int64_t columns, const std::function<std::int64_t(std::int64_t, std::int64_t)>& entry) {
    at::Tensor matrix = at::empty({rows, columns}, at::kFloat);
    auto* values = matrix.data_ptr<float>();
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) *values++ = static_cast<float>(entry(r, c));
    return matrix;
}

/// Entries are -1, 0 and 1 and there are 256 terms, so every partial sum is an integer of at most 256, exact in bf16.
Task gemm_task(at::Device device, at::ScalarType type) {
    const std::int64_t side = device.is_cpu() ? 1024 : 8192, depth = 256;
    const at::Tensor a = filled(side, depth, entry_a).to(device, type), b = filled(depth, side, entry_b).to(device, type);
    std::int64_t sums[period_a][period_b * 3] = {};
    for (std::int64_t r = 0; r < period_a; ++r)
        for (std::int64_t c = 0; c < period_b * 3; ++c)
            for (std::int64_t k = 0; k < depth; ++k) sums[r][c] += entry_a(r, k) * entry_b(k, c);
    Task task;
    task.name = type == at::kFloat ? "matrix product, fp32" : "matrix product, bf16";
    task.run = [a, b] { return gemm(a, b); };
    task.expected =
        filled(side, side, [&](std::int64_t r, std::int64_t c) { return sums[r % period_a][c % (period_b * 3)]; }).to(type);
    task.amount = 2.0 * static_cast<double>(side * side * depth);
    task.per_unit = 1e12;
    task.unit = "TFLOP/s";
    return task;
}

Task copy(at::Device device, std::int64_t elements, bool through_host) {
    const at::Tensor pattern = at::arange(elements, at::kInt), source = pattern.to(device), target = at::empty_like(source);
    Task task;
    task.name = through_host ? "copy to the device and back" : "copy";
    if (through_host) task.run = [device, pattern] { return pattern.to(device).cpu(); };
    else task.run = [source, target] { return target.copy_(source); };
    task.expected = pattern;
    task.amount = static_cast<double>(pattern.nbytes()) * 2;
    task.per_unit = 1e9;
    task.unit = "GB/s";
    return task;
}

/// The sum of 1, -1, 2 repeated: partial sums are integers below 2^24 in every order, exact in fp32.
Task reduction(at::Device device, std::int64_t elements) {
    const std::int64_t rows = elements / 3;
    const at::Tensor values = filled(rows, 3, [](std::int64_t, std::int64_t c) {
                                  return std::int64_t{c == 1 ? -1 : c == 0 ? 1 : 2};
                              }).to(device);
    Task task;
    task.name = "sum";
    task.run = [values] { return values.sum().reshape({1}); };
    task.expected = at::full({1}, static_cast<float>(rows * 2));
    task.amount = static_cast<double>(values.nbytes());
    task.per_unit = 1e9;
    task.unit = "GB/s";
    return task;
}

/// The same seed must give the same numbers. The first draw is the expected result if its mean and range are those of a uniform
/// distribution; otherwise NaN is expected, so that every repetition counts as wrong.
Task random_numbers(at::Device device, std::int64_t elements) {
    const auto draw = [device, elements] {
        at::Tensor drawn = at::empty({elements}, at::TensorOptions(device).dtype(at::kFloat));
        auto generator = at::globalContext().defaultGenerator(device).clone();
        generator.set_current_seed(20181011);
        return drawn.uniform_(0, 1, generator);
    };
    const at::Tensor first = draw().cpu();
    const double mean = first.mean(at::kDouble).item<double>();
    const double five_errors = 5 * std::sqrt(1.0 / 12 / static_cast<double>(elements));
    const bool uniform = std::fabs(mean - 0.5) < five_errors && first.min().item<float>() >= 0 && first.max().item<float>() <= 1;
    Task task;
    task.name = "random numbers";
    task.run = draw;
    task.expected = uniform ? first : at::full_like(first, std::numeric_limits<float>::quiet_NaN());
    task.amount = static_cast<double>(first.nbytes());
    task.per_unit = 1e9;
    task.unit = "GB/s";
    return task;
}

std::string first_difference(const at::Tensor& found, const at::Tensor& expected) {
    const at::Tensor differs = found.ne(expected).flatten();
    const auto place = differs.to(at::kByte).argmax().item<std::int64_t>();
    return concat("element ", place, " is ", found.flatten()[place].item<double>(), ", expected ",
                  expected.flatten()[place].item<double>(), " (", differs.sum().item<std::int64_t>(), " of ", differs.numel(),
                  " wrong)");
}

CheckedOperation repeat(const Task& task, at::Device device, std::int64_t repetitions) {
    CheckedOperation checked{task.name, repetitions, 0, "", 0, task.unit};
    double fastest = std::numeric_limits<double>::infinity();
    for (std::int64_t i = 0; i < repetitions; ++i) {
        synchronize(device);
        const double begin = seconds_now();
        at::Tensor found = task.run();
        synchronize(device);
        fastest = std::min(fastest, seconds_now() - begin);
        found = found.cpu();
        if (at::equal(found, task.expected)) continue;
        if (checked.wrong++ == 0)
            checked.first_wrong = concat("repetition ", i + 1, ": ", first_difference(found, task.expected));
    }
    checked.rate = task.amount / fastest / task.per_unit;
    return checked;
}

}  // namespace

void synchronize(at::Device device) {
    if (device.is_cpu()) return;
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
}

std::vector<CheckedOperation> check_device(at::Device device, std::int64_t repetitions) {
    const std::int64_t elements = device.is_cpu() ? std::int64_t{1} << 22 : std::int64_t{1} << 23;
    std::vector<CheckedOperation> checked;
    checked.push_back(repeat(gemm_task(device, at::kFloat), device, repetitions));
    checked.push_back(repeat(gemm_task(device, at::kBFloat16), device, repetitions));
    checked.push_back(repeat(reduction(device, elements), device, repetitions));
    checked.push_back(repeat(random_numbers(device, elements), device, repetitions));
    checked.push_back(repeat(copy(device, elements * 4, false), device, repetitions));
    if (!device.is_cpu()) checked.push_back(repeat(copy(device, elements * 4, true), device, repetitions));
    return checked;
}

}  // namespace bertpretrain
