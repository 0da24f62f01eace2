// Implements the stream: what an answer may be, and what is done after a break.
#include "registry/blob_source.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/try.hpp"
#include "registry/patiently.hpp"

namespace coracle::registry {

namespace {

// So much between two breaks, and the server counts as one that works.
constexpr std::uint64_t real_progress = 1048576;

std::optional<std::uint64_t> number(std::string_view text) {
    std::uint64_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
    return value;
}

// Only a strong one may stand in If-Range (RFC 9110, 13.1.5).
std::string strong_etag(const std::string& etag) { return etag.starts_with('"') && etag.size() <= 256 ? etag : ""; }

Error lies(const std::string& what) { return make_error(ErrorCode::corrupt, what); }

}  // namespace

bool is_rest_of(std::string_view content_range, std::uint64_t first, std::uint64_t size) {
    constexpr std::string_view unit = "bytes ";
    if (!content_range.starts_with(unit)) return false;
    content_range.remove_prefix(unit.size());
    const std::size_t dash = content_range.find('-');
    const std::size_t slash = content_range.find('/');
    if (dash == std::string_view::npos || slash == std::string_view::npos || dash > slash) return false;
    const std::string_view total = content_range.substr(slash + 1);
    return number(content_range.substr(0, dash)) == first &&
           number(content_range.substr(dash + 1, slash - dash - 1)) == size - 1 &&
           (total == "*" || number(total) == size);
}

Result<> BlobSource::open() {
    response_.reset();
    std::vector<std::string> headers{"Accept: */*", "Accept-Encoding: identity"};
    if (position_ > 0) {
        headers.push_back("Range: bytes=" + std::to_string(position_) + "-");
        if (!etag_.empty()) headers.push_back("If-Range: " + etag_);
    }
    TRY(response_, repository_.get("/blobs/" + digest_.str(), headers, false));
    if (position_ == 0) etag_ = strong_etag(response_->head().field("etag"));
    if (response_->status() == 200) return check_whole();
    return check_rest();
}

// The whole blob, whether it was asked for or Range was ignored.
Result<> BlobSource::check_whole() const {
    const std::string length = response_->head().field("content-length");
    if (length.empty() || number(length) == size_) return {};
    return lies("the registry sends " + length.substr(0, 20) + " bytes, its descriptor says " + std::to_string(size_));
}

Result<> BlobSource::check_rest() {
    const std::string range = response_->head().field("content-range").substr(0, 80);
    if (position_ == 0) return unexpected_status(repository_.location().host, response_->status());
    if (response_->status() == 206 && is_rest_of(range, position_, size_)) return {};
    return lies("asked for the rest from byte " + std::to_string(position_) + " on, the registry answers with status " +
                std::to_string(response_->status()) + " and the range '" + range + "'");
}

Result<> BlobSource::recover(Error broken) {
    if (broken.code != ErrorCode::unavailable) return broken;
    response_.reset();
    breaks_ = position_ - last_break_ >= real_progress ? 1 : breaks_ + 1;
    last_break_ = position_;
    if (breaks_ == most_attempts) return std::move(broken).within("after " + std::to_string(breaks_) + " attempts");
    TRY_OK(wait_before_retry(breaks_, {}));
    TRY_OK(open());
    to_skip_ = response_->status() == 200 ? position_ : 0;
    return {};
}

// Error: unavailable where the connection broke again.
Result<> BlobSource::skip_known() {
    std::array<char, 65536> unwanted{};
    while (to_skip_ > 0) {
        const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(to_skip_, unwanted.size()));
        TRY(const std::size_t got, response_->read({unwanted.data(), most}));
        if (got == 0) return make_error(ErrorCode::unavailable, "the registry's answer ends too early");
        to_skip_ -= got;
    }
    return {};
}

// All has come; whether there is more decides if the descriptor told the truth.
Result<std::size_t> BlobSource::read_end() {
    char more = 0;
    const auto got = response_->read({&more, 1});
    at_end_ = !got || got.value() == 0;
    response_.reset();
    if (at_end_) return std::size_t{0};
    return lies("the registry sends more than the " + std::to_string(size_) + " bytes of its descriptor");
}

Result<std::size_t> BlobSource::read(std::span<char> buffer) {
    if (at_end_ || buffer.empty()) return std::size_t{0};
    for (;;) {
        const std::uint64_t left = size_ - position_;
        auto ready = skip_known();
        if (ready && left == 0) return read_end();
        auto got =
            ready
                ? response_->read(buffer.first(static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), left))))
                : Result<std::size_t>(std::move(ready).error());
        if (got && got.value() == 0) {
            got = make_error(ErrorCode::unavailable, "the registry's answer ends after " + std::to_string(position_) +
                                                         " of " + std::to_string(size_) + " bytes");
        }
        if (got) {
            position_ += got.value();
            return got;
        }
        TRY_OK(recover(std::move(got).error()));
    }
}

}  // namespace coracle::registry
