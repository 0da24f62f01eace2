// Looks at the extended headers of a tar stream before libarchive does: it would cut a name at a NUL byte in silence,
// and its own bound on their size has no name.
#pragma once

#include <string>

#include "layer/byte_source.hpp"
#include "layer/limits.hpp"

namespace coracle::layer {

// Passes the bytes on as they are. Follows the headers as long as it understands them; where it does not (a damaged
// header, a hard link with content) it stops looking: nothing that keeps a layer inside its root depends on it.
class HeaderGuard final : public ByteSource {
public:
    HeaderGuard(ByteSource& inner, const Limits& limits) : inner_(inner), limit_(limits.header) {}
    Result<std::size_t> read(std::span<char> buffer) override;
    Result<std::uint64_t> skip(std::uint64_t count) override;  // content, never a header

private:
    enum class Expect { header, sparse_extension, records, nothing };

    Result<> look_at(std::span<const char> bytes);
    Result<> take_block();  // a header or an extension of one is complete
    Result<> take_header();
    Result<> take_records();                  // the content of an extended header is complete
    void expect_content(std::uint64_t size);  // passes over it and its padding

    ByteSource& inner_;
    Bytes limit_;
    Expect expect_ = Expect::header;
    std::string collected_;
    std::size_t wanted_ = 512;
    std::uint64_t passed_over_ = 0;
    bool next_size_known_ = false;  // a PAX record gave the size of the next entry
    std::uint64_t next_size_ = 0;
    std::uint64_t sparse_size_ = 0;
    char type_ = 0;
};

}  // namespace coracle::layer
