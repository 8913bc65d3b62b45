#include "text/dump_reader.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <new>
#include <string_view>

#include <expat.h>

#include "core/error.h"
#include "text/compressed_file.h"
#include "text/utf8.h"

namespace bertpretrain {
namespace {

// Far above anything MediaWiki writes (it refuses pages over 2 MiB), far below what would exhaust a machine.
constexpr std::size_t largest_value_bytes = std::size_t{256} << 20;
constexpr int deepest_element = 100;
constexpr int chunk_bytes = 1 << 17;

std::int64_t number_of(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

}  // namespace

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

/// One expat parser and what it has found so far. expat is C: nothing may be thrown through it, so a complaint of ours is
/// kept in `complaint` and the parser stopped.
struct DumpReader::Parser {
    explicit Parser(const std::filesystem::path& path) : file(path), name(path.string()), xml(XML_ParserCreate(nullptr)) {
        if (!xml) throw std::bad_alloc();
        XML_SetUserData(xml, this);
        XML_SetElementHandler(xml, on_start, on_end);
        XML_SetCharacterDataHandler(xml, on_text);
        // Dumps have no document type; without one there are no entities to expand, so none can explode.
        XML_SetStartDoctypeDeclHandler(xml, [](void* user, const XML_Char*, const XML_Char*, const XML_Char*, int) {
            static_cast<Parser*>(user)->complain("has a document type declaration, which dumps never have; not read for safety");
        });
    }
    ~Parser() { XML_ParserFree(xml); }

    static void on_start(void* user, const char* element, const char** attributes) {
        static_cast<Parser*>(user)->start(element, attributes);
    }
    static void on_end(void* user, const char* element) { static_cast<Parser*>(user)->end(element); }
    static void on_text(void* user, const char* text, int size) {
        auto& self = *static_cast<Parser*>(user);
        if (!self.value) return;
        self.value->append(text, static_cast<std::size_t>(size));
        if (self.value->size() > largest_value_bytes) self.complain("has a page of more than 256 MiB");
    }

    void start(std::string_view element, const char** attributes) {
        ++depth;
        value = nullptr;
        if (depth == 1 && element != "mediawiki")
            return complain(concat("is not a MediaWiki dump: its outermost element is <", element, ">, expected <mediawiki>"));
        if (depth > deepest_element) return complain("nests elements deeper than any dump does");
        if (depth == 2) {
            inside_page = element == "page";
            page = {};
            ns_text.clear();
            id_text.clear();
        } else if (inside_page && depth == 3) {
            if (element == "title") value = &page.title;
            else if (element == "ns") value = &ns_text;
            else if (element == "id") value = &id_text;
            else if (element == "redirect") page.is_redirect = true;
            inside_revision = element == "revision";
        } else if (inside_page && inside_revision && depth == 4) {
            if (element == "text") value = &page.text;
            else if (element == "model") value = &page.model;
            if (value) value->clear();  // an earlier revision's
        } else if (!inside_page && depth == 4 && element == "namespace") {
            ns_name.clear();
            ns_text.clear();
            for (; attributes[0]; attributes += 2)
                if (std::strcmp(attributes[0], "key") == 0) ns_text = attributes[1];
            value = &ns_name;
        }
    }

    void end(std::string_view element) {
        value = nullptr;
        if (depth == 4 && !inside_page && element == "namespace" && !ns_name.empty())
            names[lower_text(ns_name)] = number_of(ns_text);
        if (depth == 2 && inside_page) {
            finish_page();
            inside_page = false;
        }
        --depth;
    }

    void finish_page() {
        page.id = number_of(id_text);
        if (!ns_text.empty()) {
            page.ns = number_of(ns_text);
        } else if (const std::size_t colon = page.title.find(':'); colon != std::string::npos) {
            // Exports before 2012 do not number namespaces; the title tells.
            const auto known = names.find(lower_text(std::string_view(page.title).substr(0, colon)));
            if (known != names.end()) page.ns = known->second;
        }
        page.is_redirect = page.is_redirect || lower_text(std::string_view(page.text).substr(0, 9)) == "#redirect";
        pages.push_back(std::move(page));
        page = {};
    }

    void complain(std::string what) {
        if (complaint.empty()) complaint = std::move(what);
        XML_StopParser(xml, XML_FALSE);
    }

    /// Parses one more chunk. @throws DataError
    void advance() {
        void* const buffer = XML_GetBuffer(xml, chunk_bytes);
        if (!buffer) throw std::bad_alloc();
        const std::size_t size = file.read(static_cast<char*>(buffer), chunk_bytes);
        fed += size;
        ended = size == 0;
        if (XML_ParseBuffer(xml, static_cast<int>(size), ended) == XML_STATUS_ERROR) throw DataError(explain());
        if (const auto reached = XML_GetCurrentByteIndex(xml);
            reached >= 0 && fed - static_cast<std::uint64_t>(reached) > largest_value_bytes)
            throw DataError(concat(name, ": has a tag of more than 256 MiB at byte ", reached, " of its XML; it is not a dump"));
    }

    std::string explain() const {
        const std::string place =
            concat(" (line ", XML_GetCurrentLineNumber(xml), ", byte ", XML_GetCurrentByteIndex(xml), " of its XML)");
        if (!complaint.empty()) return concat(name, ": ", complaint, place, "; give a pages-articles.xml or .xml.bz2 file");
        const XML_Error error = XML_GetErrorCode(xml);
        if (depth == 0)
            return concat(name, ": is not a MediaWiki dump: ", XML_ErrorString(error), place,
                          "; give a pages-articles.xml or .xml.bz2 file");
        if (ended) return concat(name, ": cut short: its XML stops before </mediawiki>", place, "; download it again");
        return concat(name, ": damaged XML: ", XML_ErrorString(error), place,
                      page.title.empty() ? "" : concat(", in page \"", page.title, "\""), "; download it again");
    }

    CompressedFile file;
    std::string name;
    XML_Parser xml;
    Namespaces names = common_namespaces();
    std::deque<Page> pages;  ///< complete, not yet taken
    Page page;               ///< being read
    std::string ns_text, id_text, ns_name;
    std::string* value = nullptr;  ///< what the characters of the present element are appended to
    std::string complaint;
    std::exception_ptr failure;  ///< thrown once `pages` is empty
    int depth = 0;
    bool inside_page = false, inside_revision = false, ended = false;
    std::uint64_t fed = 0;
};

DumpReader::DumpReader(const std::filesystem::path& file) : parser_(std::make_unique<Parser>(file)) {}
DumpReader::~DumpReader() = default;

bool DumpReader::next(Page& page) {
    while (parser_->pages.empty()) {
        if (parser_->failure) std::rethrow_exception(parser_->failure);
        if (parser_->ended) return false;
        try {
            parser_->advance();
        } catch (const DataError&) { parser_->failure = std::current_exception(); }
    }
    page = std::move(parser_->pages.front());
    parser_->pages.pop_front();
    return true;
}

const Namespaces& DumpReader::namespaces() const { return parser_->names; }
std::uint64_t DumpReader::bytes_read() const { return parser_->file.bytes_read(); }

}  // namespace bertpretrain
