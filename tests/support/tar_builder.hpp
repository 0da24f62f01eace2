// Builds tar archives byte by byte, the honest ones and those that no tool would write.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace coracle::test {

// The fields of one ustar header; what a test does not name is ordinary.
struct TarFields {
    unsigned mode = 0644;
    unsigned uid = 0;
    unsigned gid = 0;
    std::int64_t mtime = 1'700'000'000;
    std::string link = {};
    std::string prefix = {};
    unsigned device_major = 0;
    unsigned device_minor = 0;
};

using PaxRecords = std::vector<std::pair<std::string, std::string>>;

class TarBuilder {
public:
    TarBuilder& file(const std::string& name, const std::string& data = "data\n", TarFields fields = {});
    TarBuilder& dir(const std::string& name, unsigned mode = 0755);
    TarBuilder& symlink(const std::string& name, const std::string& target);
    TarBuilder& hardlink(const std::string& name, const std::string& target);
    TarBuilder& fifo(const std::string& name);
    TarBuilder& device(const std::string& name, char type, unsigned major, unsigned minor);
    TarBuilder& pax(const PaxRecords& records);          // for the entry that follows
    TarBuilder& gnu_long_name(const std::string& name);  // likewise
    TarBuilder& header(const std::string& name, char type, std::uint64_t size, const TarFields& fields = {});
    TarBuilder& content(const std::string& data);  // padded to the block
    TarBuilder& raw(const std::string& bytes);

    std::string unfinished() const { return bytes_; }
    std::string finish() const { return bytes_ + std::string(1024, '\0'); }

private:
    std::string bytes_;
};

std::string gzip(const std::string& data);
std::string zstd(const std::string& data);
std::string xz(const std::string& data);

}  // namespace coracle::test
