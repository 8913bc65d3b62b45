#include "text/wiki/dump_parser.h"

#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include <expat.h>

#include "core/error.h"
#include "text/utf8.h"
#include "text/wiki/namespaces.h"

namespace bertpretrain {
namespace {

// Far above anything in a dump: MediaWiki rejects pages over 2 MiB.
constexpr std::size_t largest_text_bytes = std::size_t{8} << 20;
constexpr int deepest_element = 100;
constexpr std::string_view root = "<mediawiki>", root_end = "</mediawiki>";
constexpr std::string_view wanted = "; pass a pages-articles.xml or .xml.bz2 file";

/// Returns an attribute's value, or an empty string. @param attributes names and values in turn, which a null pointer ends
std::string attribute(const char** attributes, const char* name) {
    for (; attributes[0]; attributes += 2)
        if (std::strcmp(attributes[0], name) == 0) return attributes[1];
    return {};
}

std::int64_t number_of(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

/// An expat parser and what it has found so far. Exceptions must not pass through expat, which is C: our own error messages are
/// kept in `complaint`, exceptions of `visit` in `failure`, and the parser is stopped.
struct Parser {
    Parser(const char* encoding, const std::function<void(Page&)>& visit_page, const Namespaces& site)
        : xml(XML_ParserCreate(encoding)), visit(visit_page), names(site) {
        if (!xml) throw std::bad_alloc();
        XML_SetUserData(xml, this);
        XML_SetElementHandler(xml, on_start, on_end);
        XML_SetCharacterDataHandler(xml, on_text);
        XML_SetXmlDeclHandler(xml, [](void* user, const XML_Char*, const XML_Char* declared, int) {
            if (declared) static_cast<Parser*>(user)->declared_encoding = declared;
        });
        // Dumps have no document type declaration. Without one there are no entities, whose expansion could exhaust the memory.
        XML_SetStartDoctypeDeclHandler(xml, [](void* user, const XML_Char*, const XML_Char*, const XML_Char*, int) {
            static_cast<Parser*>(user)->complain("has a document type declaration, which dumps never have; refused for safety");
        });
    }
    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;
    ~Parser() { XML_ParserFree(xml); }

    static void on_start(void* user, const char* element, const char** attributes) {
        static_cast<Parser*>(user)->start(element, attributes);
    }
    static void on_end(void* user, const char* element) { static_cast<Parser*>(user)->end(element); }
    static void on_text(void* user, const char* text, int size) {
        auto& self = *static_cast<Parser*>(user);
        if (!self.value) return;
        self.value->append(text, static_cast<std::size_t>(size));
        if (self.value->size() > largest_text_bytes)
            self.complain("has a text of more than 8 MiB, far more than MediaWiki allows");
    }

    void start(std::string_view element, const char** attributes) {
        ++depth;
        value = nullptr;
        if (depth == 1 && element != "mediawiki")
            return complain(concat("is not a MediaWiki dump: its outermost element is <", element, ">, expected <mediawiki>"));
        if (depth == 1) language = attribute(attributes, "xml:lang");
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
            if (value) value->clear();  // drops an earlier revision's value
        } else if (!inside_page && depth == 4 && element == "namespace") {
            ns_name.clear();
            ns_text = attribute(attributes, "key");
            value = &ns_name;
        }
    }

    void end(std::string_view element) {
        value = nullptr;
        if (depth == 4 && !inside_page && element == "namespace" && !ns_name.empty())
            found_names[lower_text(ns_name)] = number_of(ns_text);
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
            // Exports before 2012 lack namespace numbers, so the title's prefix is used.
            const auto known = names.find(lower_text(std::string_view(page.title).substr(0, colon)));
            if (known != names.end()) page.ns = known->second;
        }
        page.is_redirect = page.is_redirect || lower_text(std::string_view(page.text).substr(0, 9)) == "#redirect";
        try {
            visit(page);
        } catch (...) {
            failure = std::current_exception();
            XML_StopParser(xml, XML_FALSE);
        }
        page = {};
    }

    void complain(std::string what) {
        if (complaint.empty()) complaint = std::move(what);
        XML_StopParser(xml, XML_FALSE);
    }

    bool parse(std::string_view text, bool is_final) {
        const bool fine = XML_Parse(xml, text.data(), static_cast<int>(text.size()), is_final) != XML_STATUS_ERROR;
        if (failure) std::rethrow_exception(failure);
        return fine;
    }

    bool stops_early() const {
        const XML_Error error = XML_GetErrorCode(xml);
        return error == XML_ERROR_NO_ELEMENTS || error == XML_ERROR_UNCLOSED_TOKEN || error == XML_ERROR_PARTIAL_CHAR;
    }

    XML_Parser xml;
    const std::function<void(Page&)>& visit;
    const Namespaces& names;
    Namespaces found_names;
    std::string complaint, declared_encoding, language;
    std::exception_ptr failure;
    int depth = 0;
    bool inside_page = false, inside_revision = false;
    Page page;
    std::string ns_text, id_text, ns_name;
    std::string* value = nullptr;  ///< where the characters of the current element go
};

std::string damage(const Parser& parser, std::string_view text, std::size_t at) {
    if (XML_GetErrorCode(parser.xml) == XML_ERROR_INVALID_TOKEN && at < text.size() &&
        static_cast<unsigned char>(text[at]) >= 0x80) {
        std::size_t end = at;
        if (next_code_point(text, end) == U'\uFFFD' && end == at + 1) return "bytes that are not UTF-8";
    }
    return XML_ErrorString(XML_GetErrorCode(parser.xml));
}

/// Throws the error after a failed parse. @param begin number of bytes that were parsed before the chunk's
[[noreturn]] void explain(const Parser& parser, const PageChunk& chunk, std::size_t begin) {
    auto index = static_cast<std::uint64_t>(std::max<XML_Index>(XML_GetCurrentByteIndex(parser.xml), 0));
    index -= std::min<std::uint64_t>(index, begin);
    const bool behind_gap = chunk.gap_bytes > 0 && index >= chunk.gap_at;
    const std::uint64_t line = chunk.first_line + XML_GetCurrentLineNumber(parser.xml) - 1 + (behind_gap ? chunk.gap_lines : 0);
    const std::uint64_t byte = chunk.first_byte + index + (behind_gap ? chunk.gap_bytes : 0);
    const std::string place = concat(" (line ", line, ", byte ", byte, " of its XML)"), &name = chunk.file->name;
    if (!parser.complaint.empty()) throw DataError(concat(name, ": ", parser.complaint, place, wanted));
    if (parser.depth == 0)
        throw DataError(
            concat(name, ": is not a MediaWiki dump: ", XML_ErrorString(XML_GetErrorCode(parser.xml)), place, wanted));
    if (chunk.is_last && parser.stops_early())
        throw DataError(concat(name, ": cut short: its XML stops before </mediawiki>", place, "; download it again"));
    throw DataError(concat(name, ": damaged XML: ", damage(parser, chunk.text, index), place,
                           parser.page.title.empty() ? "" : concat(", in page \"", parser.page.title, "\""),
                           "; download it again"));
}

}  // namespace

void parse_header(const PageChunk& header, PageFile& file) {
    const std::function<void(Page&)> no_page = [](Page&) {};
    Parser parser(file.encoding.empty() ? nullptr : file.encoding.c_str(), no_page, file.namespaces);
    const bool fine = parser.parse(header.text, header.is_last);
    const bool is_comment = header.first_byte > 0 && XML_GetErrorCode(parser.xml) == XML_ERROR_NO_ELEMENTS;  // after a dump's end
    if (!fine && !is_comment) explain(parser, header, 0);
    if (file.encoding.empty()) file.encoding = parser.declared_encoding;
    file.namespaces = namespaces_of(parser.language);
    for (const auto& [name, number] : parser.found_names) file.namespaces[name] = number;
    file.names_namespaces = !parser.found_names.empty();
    file.has_root = parser.depth > 0;
}

void parse_dump(const PageChunk& chunk, const std::function<void(Page&)>& visit) {
    Parser parser(chunk.file->encoding.empty() ? nullptr : chunk.file->encoding.c_str(), visit, chunk.file->namespaces);
    parser.parse(root, false);
    const bool root_ends = chunk.is_last && chunk.file->has_root;
    const bool fine = parser.parse(chunk.text, root_ends) && (root_ends || parser.parse(parser.depth == 1 ? root_end : "", true));
    if (!fine) explain(parser, chunk, root.size());
}

}  // namespace bertpretrain
