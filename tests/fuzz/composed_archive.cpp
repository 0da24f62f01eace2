// Implements archives without digests.
#include "fuzz/composed_archive.hpp"

#include <vector>

#include "base/try.hpp"
#include "content/hasher.hpp"
#include "fuzz/text_source.hpp"
#include "layer/decoder.hpp"
#include "layer/tar_writer.hpp"

namespace coracle::fuzz {

namespace {

constexpr char separator = '\x1e';
constexpr std::uint64_t most_unpacked = 1U << 20U;

struct Member {
    std::string name;
    std::string content;
    std::string digest;  // hexadecimal digits, like diff_id
    std::string diff_id;
};

std::string digest_of(std::string_view text) { return std::string(content::digest_of(text).value().hex()); }

Result<std::string> unpacked_digest_of(std::string_view text) {
    TextSource source(text);
    TRY(const layer::Decoder decoder, layer::make_decoder(source));
    TRY(content::Hasher hasher, content::Hasher::create("sha256"));
    layer::HashingSource hashing(*decoder.source, std::move(hasher));
    TRY_OK(layer::drain(hashing, most_unpacked, "layer"));
    TRY(const oci::Digest digest, std::move(hashing).finish());
    return std::string(digest.hex());
}

std::string expand(std::string_view text, const std::vector<Member>& earlier, const std::string& own_digest) {
    std::string expanded;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char sign = text[at];
        const char next = at + 1 < text.size() ? text[at + 1] : '\0';
        const auto number = static_cast<std::size_t>(next - '0');
        const bool names_member = next >= '0' && next <= '9' && number < earlier.size();
        if (sign == '@' && next == '.' && !own_digest.empty()) {
            expanded += own_digest;
        } else if (names_member && sign == '@') {
            expanded += earlier[number].digest;
        } else if (names_member && sign == '#') {
            expanded += std::to_string(earlier[number].content.size());
        } else if (names_member && sign == '%') {
            expanded += earlier[number].diff_id;
        } else {
            expanded += sign;
            continue;
        }
        ++at;
    }
    return expanded;
}

Member make_member(std::string_view text, const std::vector<Member>& earlier) {
    const std::size_t line_end = std::min(text.find('\n'), text.size());
    Member member;
    member.content = expand(text.substr(std::min(line_end + 1, text.size())), earlier, {});
    member.digest = digest_of(member.content);
    const auto unpacked = unpacked_digest_of(member.content);
    member.diff_id = unpacked ? unpacked.value() : member.digest;
    member.name = expand(text.substr(0, line_end), earlier, member.digest);
    return member;
}

Result<std::string> tar_of(const std::vector<Member>& members) {
    std::string tar;
    layer::TarWriter writer([&tar](std::string_view bytes) -> Result<> {
        tar += bytes;
        return {};
    });
    for (const Member& member : members) {
        layer::Entry entry;
        entry.path = member.name;
        entry.mode = 0644;
        entry.size = member.content.size();
        TRY_OK(writer.begin(entry));
        TRY_OK(writer.write(member.content));
        TRY_OK(writer.end_entry());
    }
    TRY_OK(writer.finish());
    return tar;
}

}  // namespace

std::optional<std::string> compose_archive(std::string_view input) {
    if (!input.starts_with(separator)) return std::nullopt;
    std::vector<Member> members;
    while (!input.empty()) {
        input.remove_prefix(1);
        const std::size_t end = std::min(input.find(separator), input.size());
        members.push_back(make_member(input.substr(0, end), members));
        input.remove_prefix(end);
    }
    auto tar = tar_of(members);
    return tar ? std::move(tar).value() : std::string();
}

}  // namespace coracle::fuzz
