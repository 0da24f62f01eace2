// Implements the Engine's doors to the images that are kept: list, inspect, tag, remove, collect, save, measure.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>

#include "base/files.hpp"
#include "base/tree_size.hpp"
#include "base/try.hpp"
#include "content/paths.hpp"
#include "engine/host_engine.hpp"
#include "housekeeping/collect.hpp"
#include "image/save.hpp"
#include "oci/reference.hpp"
#include "plan/make_plan.hpp"
#include "snapshot/layer_trees.hpp"

namespace coracle::engine {

namespace {

namespace paths = content::paths;

std::string rfc3339(std::time_t time) {
    std::tm fields{};
    ::gmtime_r(&time, &fields);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &fields)};
}

housekeeping::Owner owner_of(const host::HostFacts& host) {
    const plan::IdMapping mapping = plan::choose_id_mapping(host);
    return {.ownership = plan::ownership_of(mapping), .maps = plan::make_id_maps(host, mapping)};
}

Result<std::vector<LayerInfo>> layers_of(const content::Store& store, const housekeeping::Owner& owner,
                                         const image::Image& image) {
    // A layer that reaches down lies under another id (snapshot/layer_trees.hpp).
    const auto chained = snapshot::LayerTrees::chained(image.config.diff_ids);
    std::vector<housekeeping::Item> trees;
    for (std::size_t at = 0; at < chained.size(); ++at) {
        const std::string alone = paths::layer_group(image.config.diff_ids[at]);
        const bool there = base::exists_at(store.dir().get(), alone);
        trees.push_back({housekeeping::Kind::layer, there ? alone : paths::layer_group(chained[at])});
    }
    TRY_OK(housekeeping::measure(store, owner, trees));
    std::vector<LayerInfo> layers;
    for (std::size_t at = 0; at < image.layers.size(); ++at) {
        const oci::Descriptor& layer = image.layers[at];
        LayerInfo info{.digest = layer.digest.str(),
                       .diff_id = image.config.diff_ids[at].digest.str(),
                       .media_type = layer.media_type,
                       .size = layer.size,
                       .unpacked = {}};
        if (base::exists_at(store.dir().get(), trees[at].path)) info.unpacked = trees[at].bytes;
        layers.push_back(std::move(info));
    }
    return layers;
}

Result<std::vector<image::Image>> resolve_all(const content::Store& store, const std::vector<std::string>& refs) {
    std::vector<image::Image> images;
    for (const std::string& ref : refs) {
        TRY(image::Image image, image::resolve(store, ref));
        images.push_back(std::move(image));
    }
    return images;
}

// Under another name until it is whole: an archive that is there is worth more than half a new one.
Result<> save_file(const content::Store& store, const std::vector<image::Image>& images,
                   const std::filesystem::path& target) {
    struct stat status {};
    const bool in_place = ::stat(target.c_str(), &status) == 0 && !S_ISREG(status.st_mode);  // /dev/stdout, a FIFO
    const std::string name = in_place ? target.string() : target.string() + "." + base::random_hex(6) + ".tmp";
    TRY(const base::UniqueFd file,
        base::open_file_at(AT_FDCWD, name, in_place ? O_WRONLY : O_WRONLY | O_CREAT | O_EXCL, 0644));
    auto saved = image::save_archive(
        store, images, [&](std::string_view bytes) { return base::write_all(file.get(), bytes, target.string()); });
    if (in_place) return saved;
    if (saved && ::rename(name.c_str(), target.c_str()) != 0)
        saved = os_error("rename to '" + target.string() + "'", errno);
    if (!saved) ::unlink(name.c_str());
    return saved;
}

}  // namespace

Result<std::vector<ImageInfo>> HostEngine::images() const {
    TRY(const auto all, image::list(store_));
    std::vector<ImageInfo> infos;
    for (const image::Image& image : all) infos.push_back(image_program::info_of(image));
    return infos;
}

Result<ImageDetails> HostEngine::inspect_image(const std::string& ref) const {
    TRY(const auto entry, image::find(store_, ref).at(Stage::resolve));
    TRY(const auto holder, housekeeping::holder_of(store_, entry).at(Stage::resolve));  // before its use is noted
    TRY(const image::Image image, image::resolve(store_, ref));
    ImageDetails details{.info = image_program::info_of(image),
                         .names = {},
                         .config_digest = image.config_digest.str(),
                         .config = {},
                         .last_used = rfc3339(holder.last_used),
                         .layers = {}};
    TRY(const auto tags, store_.tags());
    for (const oci::Descriptor& tag : tags) {
        if (tag.digest == image.manifest_digest) details.names.push_back(housekeeping::name_of(tag));
    }
    TRY(details.config, image::read_config(store_, entry).at(Stage::resolve));
    TRY(details.layers, layers_of(store_, owner_of(host_), image));
    return details;
}

Result<> HostEngine::tag_image(const std::string& ref, const std::string& name) const {
    TRY(const oci::Reference reference, oci::parse_reference(name).at(Stage::request));
    if (reference.digest) {
        return make_error(ErrorCode::invalid_request, "a name cannot be a digest", "write NAME or NAME:TAG")
            .at(Stage::request);
    }
    TRY(const image::Image image, image::resolve(store_, ref));  // its lease keeps it until it has the name
    TRY(auto entry, image::find(store_, ref).at(Stage::resolve));
    return store_.tag(reference.str(), std::move(entry)).at(Stage::resolve);
}

Result<RemovalReport> HostEngine::remove_images(const std::vector<std::string>& refs) const {
    return housekeeping::remove_names(store_, owner_of(host_), refs).at(Stage::resolve);
}

Result<RemovalReport> HostEngine::collect_garbage(const GcRequest& request) const {
    return housekeeping::collect(store_, owner_of(host_), request).at(Stage::resolve);
}

Result<> HostEngine::save_images(const SaveRequest& request) const {
    TRY(const auto images, resolve_all(store_, request.refs));
    if (request.out_fd >= 0) {
        return image::save_archive(
                   store_, images,
                   [&](std::string_view bytes) { return base::write_all(request.out_fd, bytes, "the archive"); })
            .within("save")
            .at(Stage::resolve);
    }
    const bool layout = request.target.string().ends_with('/');
    return (layout ? image::save_layout(store_, images, request.target) : save_file(store_, images, request.target))
        .within("save")
        .at(Stage::resolve);
}

Result<DiskUsage> HostEngine::disk_usage() const {
    return housekeeping::disk_usage(store_, owner_of(host_)).at(Stage::resolve);
}

}  // namespace coracle::engine
