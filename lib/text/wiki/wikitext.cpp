#include "text/wiki/wikitext.h"

#include "text/wiki/wiki_links.h"
#include "text/wiki/wiki_tags.h"
#include "text/wiki/wiki_templates.h"

namespace bertpretrain {

std::vector<std::string> prose_of(std::string_view wikitext, const Namespaces& namespaces, ProseRules rules) {
    // MediaWiki's order: opaque elements, braces, tables and links, and the meaning of lines last.
    return paragraphs_of_lines(
        without_links(without_tables(without_templates(without_tags(wikitext))), namespaces, rules.all_names_known), rules);
}

}  // namespace bertpretrain
