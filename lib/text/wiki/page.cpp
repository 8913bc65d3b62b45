#include "text/wiki/page.h"

namespace bertpretrain {

bool is_article(const Page& page) {
    return page.ns == 0 && !page.is_redirect && (page.model.empty() || page.model == "wikitext");
}

const Namespaces& common_namespaces() {
    static const Namespaces names = {{"media", -2},       {"special", -1},       {"talk", 1},        {"user", 2},
                                     {"user talk", 3},    {"wikipedia", 4},      {"project", 4},     {"wp", 4},
                                     {"project talk", 5}, {"wikipedia talk", 5}, {"file", 6},        {"image", 6},
                                     {"file talk", 7},    {"image talk", 7},     {"mediawiki", 8},   {"mediawiki talk", 9},
                                     {"template", 10},    {"template talk", 11}, {"help", 12},       {"help talk", 13},
                                     {"category", 14},    {"category talk", 15}, {"portal", 100},    {"portal talk", 101},
                                     {"book", 108},       {"draft", 118},        {"timedtext", 710}, {"module", 828},
                                     {"module talk", 829}};
    return names;
}

}  // namespace bertpretrain
