#include "parallel/run_key.h"

#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "core/error.h"
#include "core/files/sha256.h"
#include "core/strings.h"
#include "parallel/launch_environment.h"

namespace bertpretrain {
namespace {

// The protocol: each rank sends a hello with a nonce. Rank 0 concatenates them to a roll, which it publishes with a proof. Every
// rank answers with a proof for this roll. Rank 0 checks all answers and publishes a verdict (empty: accepted).
constexpr std::size_t nonce_bytes = 16, hello_bytes = nonce_bytes + 1, proof_bytes = 32, most_verdict_bytes = 1000;

class Meeting {
public:
    Meeting(c10d::Store& store, std::int64_t rank, std::int64_t size, const std::string& secret)
        : store_(store), rank_(rank), size_(size), secret_(secret) {}

    std::string run_key() {
        hello_ = random_secret(nonce_bytes) + (secret_.empty() ? '-' : '+');
        store_.set(concat("hello/", rank_), hello_);
        if (rank_ == 0) lead();
        else follow();
        return proof("run key");
    }

private:
    void lead() {
        for (std::int64_t rank = 0; rank < size_; ++rank) roll_ += take(concat("hello/", rank), rank, hello_bytes, hello_bytes);
        store_.set("roll", roll_ + proof("roll"));
        std::string verdict;
        std::vector<std::int64_t> believed;
        for (std::int64_t rank = 1; rank < size_; ++rank) {
            const std::string answer = take(concat("answer/", rank), rank, proof_bytes, proof_bytes);
            if (equal_secrets(answer, proof(concat("answer ", rank)))) believed.push_back(rank);
            else if (verdict.empty()) verdict = difference(rank);
        }
        store_.set("verdict", proof("verdict " + verdict) + verdict);
        if (verdict.empty()) return;
        for (const std::int64_t rank : believed)
            take(concat("read/", rank), rank, 1, 1);  // wait: the store ends with this process
        throw ConfigError(verdict);
    }

    void follow() {
        const std::size_t roll_bytes = static_cast<std::size_t>(size_) * hello_bytes;
        const std::string sent = take("roll", 0, roll_bytes + proof_bytes, roll_bytes + proof_bytes);
        roll_ = sent.substr(0, roll_bytes);
        if (hello_of(rank_) != hello_)
            throw DistributedError(concat("rank ", rank_, " of ", size_,
                                          " met another start of this run, or another process that is ", "also rank ", rank_,
                                          "\n  do: check that each rank is started only once, then start again"));
        store_.set(concat("answer/", rank_), proof(concat("answer ", rank_)));
        if (!equal_secrets(sent.substr(roll_bytes), proof("roll"))) throw ConfigError(difference(rank_));
        const std::string judged = take("verdict", 0, proof_bytes, proof_bytes + most_verdict_bytes);
        const std::string verdict = judged.substr(proof_bytes);
        if (!equal_secrets(judged.substr(0, proof_bytes), proof("verdict " + verdict))) throw DistributedError(forged("verdict"));
        store_.set(concat("read/", rank_), "+");
        if (!verdict.empty()) throw ConfigError(verdict);
    }

    /// Returns the code for `what` and this roll, which only a process with the secret can compute.
    std::string proof(const std::string& what) const { return hmac_sha256(secret_, concat("bertpretrain ", what, "\n", roll_)); }

    std::string hello_of(std::int64_t rank) const {
        return roll_.substr(static_cast<std::size_t>(rank) * hello_bytes, hello_bytes);
    }

    /// Returns the message for a rank whose proof does not match rank 0's.
    std::string difference(std::int64_t rank) const {
        const bool has_secret = hello_of(rank).back() == '+', first_has = hello_of(0).back() == '+';
        const std::string why = has_secret && first_has ? concat("rank ", rank, " has another secret than rank 0")
                                : has_secret            ? concat("rank 0 has no secret, but rank ", rank, " has one")
                                : first_has             ? concat("rank ", rank, " has no secret, but rank 0 has one")
                                                        : concat("rank ", rank, " cannot prove that it belongs to the run");
        return concat("environment: ", secret_variable, ", ", secret_file_variable, ": ", why,
                      "\n  do: set the same secret on all ranks of the run");
    }

    std::string forged(const std::string& key) const {
        return concat("the store's value of \"", key, "\" was not written by a rank of this run\n  do: find which other process ",
                      "connects to MASTER_ADDR:MASTER_PORT, and block it");
    }

    /// Waits for the value that rank `from` writes, and checks its size.
    std::string take(const std::string& key, std::int64_t from, std::size_t least, std::size_t most) {
        std::string value;
        try {
            value = store_.get_to_str(key);
        } catch (const std::exception& error) {
            throw DistributedError(concat("rank ", rank_, " of ", size_, ": rank ", from,
                                          " did not join in time: ", first_line(error.what()),
                                          "\n  do: check that all ranks were started, and read the log of rank ", from));
        }
        if (value.size() < least || value.size() > most) throw DistributedError(forged(key));
        return value;
    }

    c10d::Store& store_;
    std::int64_t rank_, size_;
    const std::string& secret_;
    std::string hello_, roll_;
};

}  // namespace

std::string agree_on_run_key(c10d::Store& store, std::int64_t rank, std::int64_t size, const std::string& secret) {
    return Meeting(store, rank, size, secret).run_key();
}

std::string store_prefix(const std::string& run_key) { return hexadecimal(hmac_sha256(run_key, "name").substr(0, nonce_bytes)); }

}  // namespace bertpretrain
