#include "telemetry/metrics_chain.h"

#include <sstream>
#include <vector>

#include "core/error.h"
#include "core/files/sha256.h"
#include "support/catch.h"
#include "support/files.h"
#include "telemetry/metrics_file.h"

using namespace bertpretrain;
using testing::read_text;
using testing::TemporaryFolder;
using testing::write_text;

namespace {

/// Writes steps 1 to 6 with an evaluation after step 4, and returns the file's lines.
std::vector<std::string> write_chained_steps(const std::filesystem::path& file) {
    {
        MetricsFile metrics(file);
        for (std::int64_t step = 1; step <= 6; ++step) {
            metrics.append(StepRecord{.step = step, .loss = 1.0 / static_cast<double>(step)});
            if (step == 4) metrics.append(EvaluationRecord{.step = step, .mlm_loss = 0.25});
        }
        metrics.finish();
    }
    std::vector<std::string> lines;
    std::istringstream text(read_text(file));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
}

void write_chained_lines(const std::filesystem::path& file, const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    write_text(file, text);
}

std::string without_chain(const std::string& line) { return ChainedLine::of(line).content; }

}  // namespace

TEST_CASE("each line's chain value is the SHA-256 of the value before and of the line without it") {
    const TemporaryFolder folder;
    const std::vector<std::string> lines = write_chained_steps(folder / "metrics.jsonl");
    std::string before;
    for (const std::string& line : lines) {
        const std::size_t at = line.find(R"(,"chain":")");
        REQUIRE(at != std::string::npos);
        const std::string value = hexadecimal(sha256(before + "\n" + line.substr(0, at) + "}")).substr(0, 16);
        CHECK(line.substr(at) == R"(,"chain":")" + value + R"("})");
        before = value;
    }
    const ChainCheck check = verify_chain(folder / "metrics.jsonl");
    CHECK(check.broken.empty());
    CHECK(check.lines == 7);
    CHECK(check.unchained == 0);
    CHECK(check.last == before);
}

TEST_CASE("a changed digit, and a line that is removed, added, moved or stripped of its value, is named with its step") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "metrics.jsonl";
    const std::vector<std::string> lines = write_chained_steps(file);
    const auto broken_step = [&](const std::vector<std::string>& changed) {
        write_chained_lines(file, changed);
        const ChainCheck check = verify_chain(file);
        CHECK_FALSE(check.broken.empty());
        return check.broken_step.value_or(-1);
    };
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        CAPTURE(i);
        const auto step = static_cast<std::int64_t>(i < 4 ? i + 1 : i), next = static_cast<std::int64_t>(i < 3 ? i + 2 : i + 1);
        std::vector<std::string> changed = lines;
        char& digit = changed[i].at(changed[i].find("0.0"));
        digit = '1';
        CHECK(broken_step(changed) == step);
        changed = lines;
        changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(i));
        CHECK(broken_step(changed) == next);
        changed = lines;
        changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
        CHECK(broken_step(changed) == step);
        changed = lines;
        std::swap(changed[i], changed[i + 1]);
        CHECK(broken_step(changed) == next);
        changed = lines;
        changed[i + 1] = without_chain(changed[i + 1]);
        CHECK(broken_step(changed) == next);
    }
}

TEST_CASE("the chain continues after what a resumed run keeps of its lines") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "metrics.jsonl";
    const std::vector<std::string> lines = write_chained_steps(file);
    const auto [kept_step, evaluated] = GENERATE(std::pair{4, 4}, std::pair{4, 3}, std::pair{2, 2}, std::pair{0, -1});
    CAPTURE(kept_step, evaluated);
    {
        MetricsFile metrics(file);
        LossHistory losses;
        metrics.cut_to_step(kept_step, evaluated, losses);
        metrics.append(StepRecord{.step = kept_step + 1});
        metrics.append(StepRecord{.step = kept_step + 2});
        metrics.finish();
    }
    const ChainCheck check = verify_chain(file);
    CHECK(check.broken == "");
    CHECK(check.lines == kept_step + 2 + (evaluated == 4 ? 1 : 0));
    if (kept_step > 0) CHECK(read_text(file).starts_with(lines[0] + "\n" + lines[1] + "\n"));
}

TEST_CASE("the chain continues after an incomplete last line was removed") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "metrics.jsonl";
    const std::vector<std::string> lines = write_chained_steps(file);
    write_text(file, read_text(file).substr(0, read_text(file).size() - 10));
    CHECK(verify_chain(file).lines == 6);
    MetricsFile metrics(file);
    metrics.append(StepRecord{.step = 6});
    CHECK(verify_chain(file).broken == "");
    CHECK(verify_chain(file).lines == 7);
}

TEST_CASE("a damaged line that a resume removes is still missed by the chain") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "metrics.jsonl";
    std::vector<std::string> lines = write_chained_steps(file);
    lines[1] = "{}";
    write_chained_lines(file, lines);
    MetricsFile metrics(file);
    LossHistory losses;
    metrics.cut_to_step(6, 6, losses);
    metrics.append(StepRecord{.step = 7});
    CHECK(read_metrics(file).steps.size() == 6);
    CHECK(verify_chain(file).broken_step == 3);
}

TEST_CASE("lines of earlier versions have no chain value; later lines continue from them") {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "metrics.jsonl";
    std::vector<std::string> lines = write_chained_steps(file);
    for (std::string& line : lines) line = without_chain(line);
    write_chained_lines(file, lines);
    CHECK(verify_chain(file).broken == "");
    CHECK(verify_chain(file).unchained == 7);
    {
        MetricsFile metrics(file);
        LossHistory losses;
        metrics.cut_to_step(6, 6, losses);
        metrics.append(StepRecord{.step = 7});
        metrics.finish();
    }
    CHECK(verify_chain(file).broken == "");
    CHECK(verify_chain(file).lines == 8);
    CHECK(verify_chain(file).unchained == 7);
    std::string text = read_text(file);
    text.replace(text.find("0.5"), 3, "0.6");  // the loss of step 2
    write_text(file, text);
    CHECK(verify_chain(file).broken_step == 7);
}

TEST_CASE("a metrics file that cannot be read has no chain") {
    const TemporaryFolder folder;
    CHECK_THROWS_AS(verify_chain(folder / "absent"), DataError);
    CHECK_THROWS_AS(verify_chain(folder.path()), DataError);
}
