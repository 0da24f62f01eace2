// Applies tar archives to trees the way snapshots do, for tests of layers.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "base/try.hpp"
#include "layer/apply.hpp"
#include "support/layout_builder.hpp"
#include "support/tar_builder.hpp"
#include "support/test_dir.hpp"

namespace coracle::test {

// A tree on disk that takes layers.
class Tree {
public:
    explicit Tree(const std::filesystem::path& path, const layer::Limits& limits = {})
        : path_(path), root_(open_new(path)), writer_(root_.get(), owners(), mark(), limits) {}

    // As root everything is set exactly; an unprivileged test run owns all.
    static layer::Owners owners() { return ::geteuid() == 0 ? layer::Owners::exact : layer::Owners::caller; }
    static layer::OpaqueMark mark() { return ::geteuid() == 0 ? layer::OpaqueMark::trusted : layer::OpaqueMark::user; }

    Result<> add(const std::string& tar, const layer::Limits& limits = {}) {
        return add_stored(tar, gzip(tar), limits);
    }
    // `stored` is the blob, `tar` what its diff_id is taken of.
    Result<> add_stored(const std::string& tar, const std::string& stored, const layer::Limits& limits = {}) {
        return add_as(must(content::digest_of(stored)), stored, must(content::digest_of(tar)), limits);
    }
    Result<> add_as(const oci::Digest& digest, const std::string& stored, const oci::Digest& diff_id,
                    const layer::Limits& limits = {}) {
        const auto file = path_.parent_path() / (path_.filename().string() + ".blob");
        std::ofstream(file, std::ios::binary | std::ios::trunc) << stored;
        const base::UniqueFd fd = must(base::open_regular_at(AT_FDCWD, file.string()));
        layer::FileSource bytes(fd.get());
        TRY(layer::VerifyingSource blob, layer::VerifyingSource::create(bytes, digest, stored.size()));
        TRY_OK(layer::apply_layer_as(oci::DiffId{diff_id}, blob, stored.size(), writer_, {.limits = limits}));
        return std::move(blob).finish();
    }
    Result<> finish() { return std::move(writer_).finish(); }

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }
    const std::vector<std::string>& warnings() const { return writer_.warnings(); }

private:
    static base::UniqueFd open_new(const std::filesystem::path& path) {
        std::filesystem::create_directories(path);
        return must(base::open_dir(path));
    }
    std::filesystem::path path_;
    base::UniqueFd root_;
    layer::TreeWriter writer_;
};

}  // namespace coracle::test
