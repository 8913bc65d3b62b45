// Small dumps of many languages: no caption, image option or category remains in the text, each sentence has a line of its own,
// and list items are dropped or kept.

#include <string>
#include <vector>

#include "core/concat.h"
#include "support/catch.h"
#include "support/files.h"
#include "text/reader/extract.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// What a wiki of one language calls things, and an article about its capital or another town.
struct Wiki {
    std::string language;
    std::string file, category;  ///< names of namespaces 6 and 14 in <siteinfo>
    std::string file_alias;      ///< another name for files, which <siteinfo> does not list
    std::string first, second;   ///< sentences
    std::string item;            ///< a sentence in a list
    bool has_spaces = true;      ///< between sentences
};

const std::vector<Wiki> wikis{
    {"la", "Fasciculus", "Categoria", "Imago", "Roma est urbs Italiae.", "Tiberis per urbem fluit.", "Via Appia longa est."},
    {"eo", "Dosiero", "Kategorio", "File", "Esperanto estas lingvo.", "Ĝi naskiĝis en 1887.",
     "La unua libro aperis en Varsovio."},
    {"tt", "Файл", "Төркем", "Рәсем", "Казан — Татарстанның башкаласы.", "Ул Идел буенда урнашкан.", "Кабан күле шәһәрдә ята."},
    {"km", "ឯកសារ", "ចំណាត់ថ្នាក់ក្រុម", "រូបភាព", "ភ្នំពេញជារាជធានីនៃប្រទេសកម្ពុជា។", "ទន្លេសាបហូរកាត់ទីក្រុង។", "វត្តភ្នំជាវត្តចាស់។"},
    {"bo", "File", "Category", "Image", "ལྷ་ས་ནི་བོད་ཀྱི་གྲོང་ཁྱེར་ཡིན།", "པོ་ཏ་ལ་ནི་ལྷ་ས་ན་ཡོད།", "གཙང་པོ་ནི་ཆེན་པོ་རེད།"},
    {"pt", "Ficheiro", "Categoria", "Imagem", "Lisboa é a capital de Portugal.", "O Tejo passa ao lado.",
     "O bairro alto é antigo."},
    {"vi", "Tập tin", "Thể loại", "Hình", "Hà Nội là thủ đô của Việt Nam.", "Sông Hồng chảy qua thành phố.",
     "Hồ Gươm ở giữa phố cổ."},
    {"ur", "فائل", "زمرہ", "تصویر", "لاہور پاکستان کا شہر ہے۔", "راوی اس کے پاس بہتا ہے۔", "شالامار باغ بڑا ہے۔"},
    {"hy", "Պատկեր", "Կատեգորիա", "File", "Երևանը Հայաստանի մայրաքաղաքն է։", "Հրազդանը հոսում է նրա միջով։",
     "Արարատը երևում է քաղաքից։"},
    {"my", "ဖိုင်", "ကဏ္ဍ", "File", "ရန်ကုန်သည် မြို့ကြီးဖြစ်သည်။", "ရွှေတိဂုံသည် ထိုမြို့တွင် ရှိသည်။", "အင်းလျားကန်သည် ကြီးသည်။"},
    {"am", "ስዕል", "መደብ", "File", "አዲስ አበባ የኢትዮጵያ ዋና ከተማ ናት።", "እንጦጦ ከከተማዋ በላይ ነው።", "መርካቶ ትልቅ ገበያ ነው።"},
    {"hi", "चित्र", "श्रेणी", "File", "दिल्ली भारत की राजधानी है।", "यमुना उसके पास बहती है।", "लाल किला पुराना है।"},
    {"zh", "File", "Category", "图像", "北京是中国的首都。", "长城在北京附近。", "故宫很大。", false},
    {"ja", "ファイル", "Category", "画像", "東京は日本の首都である。", "隅田川は東京を流れる。", "浅草は古い。", false},
    {"et", "Fail", "Kategooria", "Pilt", "Tallinn on Eesti pealinn.", "Linn asub mere ääres.", "Vanalinn on vana."},
    {"be", "Файл", "Катэгорыя", "Выява", "Мінск — сталіца Беларусі.", "Горад стаіць на Свіслачы.", "Стары горад малы."},
    {"jv", "Barkas", "Kategori", "Gambar", "Surakarta iku kutha ing Jawa.", "Bengawan Sala mili ing kono.",
     "Pasar Gedhe iku tuwa."},
};

std::string name_of(int number, const std::string& name) {
    return concat("<namespace key=\"", number, "\">", name, "</namespace>");
}

std::string dump_of(const Wiki& wiki) {
    const std::string text =
        concat("[[", wiki.file, ":A.jpg|thumb|250px|", wiki.item, "]]\n[[", wiki.file_alias, ":B c.png|thumb|left|[[", wiki.item,
               "]]]]\n", "[[Bild:D.svg|mini|", wiki.item, "]]\n'''", wiki.first, "'''", wiki.has_spaces ? " " : "", wiki.second,
               "\n== X ==\n* ", wiki.item, "\n[[", wiki.category, ":", wiki.language, "]]\n[[Category:", wiki.language,
               "]]\n[[de:", wiki.first, "]]\n");
    return concat("<mediawiki xml:lang=\"", wiki.language, "\"><siteinfo><namespaces>", name_of(6, wiki.file),
                  name_of(14, wiki.category), "</namespaces></siteinfo><page><title>A</title><ns>0</ns><revision><text>", text,
                  "</text></revision></page></mediawiki>");
}

std::string extracted(const std::string& dump, ProseRules rules = {}) {
    const TemporaryFolder folder;
    write_text(folder / "dump.xml", dump);
    ExtractSettings settings;
    settings.inputs = {folder / "dump.xml"};
    settings.output = folder / "text.txt";
    settings.reading.prose = rules;
    settings.threads = 1;
    extract(settings);
    return read_text(folder / "text.txt");
}

}  // namespace

TEST_CASE("the text of each language's wiki is its sentences, without captions, options and categories") {
    for (const Wiki& wiki : wikis) {
        CAPTURE(wiki.language);
        const std::string dump = dump_of(wiki);
        CHECK(extracted(dump) == wiki.first + "\n" + wiki.second + "\n\n");
        CHECK(extracted(dump, {.keeps_lists = true}) == wiki.first + "\n" + wiki.second + "\n" + wiki.item + "\n\n");
    }
}

TEST_CASE("a link whose prefix another language calls a category is a title in a dump that names its namespaces") {
    const auto text = [](const std::string& siteinfo) {
        return extracted("<mediawiki xml:lang=\"en\">" + siteinfo +
                         "<page><title>A</title><ns>0</ns><revision><text>See [[Class:Action]] by a band.\n[[Category:Albums]]\n"
                         "[[Kategorie:Album]] [[Kategorie:B]]\n"
                         "[[Datei:A.jpg|mini|A caption.]]</text></revision></page></mediawiki>");
    };
    CHECK(text("<siteinfo><namespaces><namespace key=\"14\">Category</namespace></namespaces></siteinfo>") ==
          "See Class:Action by a band.\n\n");
    CHECK(text("") == "See by a band.\n\n");  // "Class" is Cornish, and the page may be a copy
}
