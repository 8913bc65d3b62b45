#include "inference/cross_validation.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

struct Task {
    at::Tensor vectors_ND;
    std::vector<std::int64_t> classes_N;
};

/// Vectors of which `shift` is added to the first column for class 1; a column is constant.
Task two_classes(float shift) {
    RandomSequence random(5, Purpose::sample_order, 0);
    Task task{at::empty({120, 3}, at::kFloat), {}};
    for (std::int64_t i = 0; i < 120; ++i) {
        task.classes_N.push_back(i % 3 == 0 ? 1 : 0);
        task.vectors_ND[i][0] = random.uniform() + static_cast<float>(task.classes_N.back()) * shift;
        task.vectors_ND[i][1] = random.uniform() * 1000;
        task.vectors_ND[i][2] = 0.1F;
    }
    return task;
}

std::int64_t correct(const Task& task, const CrossValidated& validated) {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < task.classes_N.size(); ++i) count += task.classes_N[i] == validated.predicted_N[i] ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("folds have the same share of every class, to one example") {
    const std::vector<std::int64_t> classes{1, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 0, 2, 2, 2, 2, 2};
    const std::vector<std::int64_t> folds = stratified_folds(classes);
    for (const std::int64_t one : {0, 1, 2}) {
        std::vector<std::int64_t> counts(probe_folds);
        for (std::size_t i = 0; i < classes.size(); ++i)
            if (classes[i] == one) ++counts[static_cast<std::size_t>(folds[i])];
        CHECK(*std::max_element(counts.begin(), counts.end()) - *std::min_element(counts.begin(), counts.end()) <= 1);
    }
}

TEST_CASE("classes that their vectors determine are predicted, and unrelated ones are not better than guessing") {
    const Task clear = two_classes(3), unrelated = two_classes(0);
    CHECK(correct(clear, cross_validate(clear.vectors_ND, clear.classes_N, 2)) == 120);
    CHECK(correct(unrelated, cross_validate(unrelated.vectors_ND, unrelated.classes_N, 2)) <= 85);  // 80 are of one class
}

TEST_CASE("no example is predicted by a model that was fitted to it") {
    // One example per fold is of class 1, though its vector is like those of class 0. A model that knew it could tell it apart by
    // its own column; a model that was not fitted to it sees that column constant.
    Task task{at::zeros({30, 31}, at::kFloat), std::vector<std::int64_t>(30, 0)};
    for (std::int64_t i = 0; i < 30; ++i) task.vectors_ND[i][i] = 1;
    for (std::size_t i = 0; i < 5; ++i) task.classes_N[i] = 1;
    const CrossValidated validated = cross_validate(task.vectors_ND, task.classes_N, 2);
    for (std::size_t i = 0; i < 5; ++i) CHECK(validated.predicted_N[i] == 0);
}

TEST_CASE("the number of threads does not change what cross-validation predicts or chooses") {
    const Task task = two_classes(0.5F);
    const int before = at::get_num_threads();
    at::set_num_threads(1);
    const CrossValidated one = cross_validate(task.vectors_ND, task.classes_N, 2);
    at::set_num_threads(4);
    const CrossValidated four = cross_validate(task.vectors_ND, task.classes_N, 2);
    at::set_num_threads(before);
    CHECK(one.predicted_N == four.predicted_N);
    CHECK(one.strengths == four.strengths);
}
