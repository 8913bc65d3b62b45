#include "parallel/answering_store.h"

#include <chrono>

#include "core/error.h"
#include "core/threads/answer_within.h"

namespace bertpretrain {

/// @param question must own what it uses: its thread may wait for ever
template <typename Question>
auto AnsweringStore::ask(std::chrono::milliseconds timeout, Question question) {
    const auto limit = with_grace(timeout);
    if (auto answer = answer_within(*worker_, limit, std::move(question))) return answer->get();
    throw DistributedError(concat("the store has not answered for ",
                                  std::chrono::duration_cast<std::chrono::seconds>(limit).count(),
                                  " s: its process hangs, or is stopped\n  do: read the log of rank 0, and look at its host"));
}

AnsweringStore::AnsweringStore(std::function<StorePointer()> open, std::chrono::milliseconds timeout) : Store(timeout) {
    store_ = ask(timeout, std::move(open));
}

c10::intrusive_ptr<c10d::Store> AnsweringStore::clone() {
    return c10::make_intrusive<AnsweringStore>([store = store_] { return store->clone(); }, timeout_);
}

void AnsweringStore::set(const std::string& key, const std::vector<std::uint8_t>& value) {
    ask(timeout_, [store = store_, key, value] { store->set(key, value); });
}

std::vector<std::uint8_t> AnsweringStore::compareSet(const std::string& key, const std::vector<std::uint8_t>& expected,
                                                     const std::vector<std::uint8_t>& desired) {
    return ask(timeout_, [store = store_, key, expected, desired] { return store->compareSet(key, expected, desired); });
}

std::vector<std::uint8_t> AnsweringStore::get(const std::string& key) {
    return ask(timeout_, [store = store_, key] { return store->get(key); });
}

std::int64_t AnsweringStore::add(const std::string& key, std::int64_t value) {
    return ask(timeout_, [store = store_, key, value] { return store->add(key, value); });
}

bool AnsweringStore::deleteKey(const std::string& key) {
    return ask(timeout_, [store = store_, key] { return store->deleteKey(key); });
}

bool AnsweringStore::check(const std::vector<std::string>& keys) {
    return ask(timeout_, [store = store_, keys] { return store->check(keys); });
}

std::int64_t AnsweringStore::getNumKeys() {
    return ask(timeout_, [store = store_] { return store->getNumKeys(); });
}

void AnsweringStore::wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) {
    ask(timeout, [store = store_, keys, timeout] { store->wait(keys, timeout); });
}

void AnsweringStore::setTimeout(const std::chrono::milliseconds& timeout) {
    timeout_ = timeout;
    ask(timeout, [store = store_, timeout] { store->setTimeout(timeout); });
}

}  // namespace bertpretrain
