package openstack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/imagelock"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// Image is an image of a cloud.
type Image struct {
	Reference string   // as in the pods
	Blocks    []string // addresses, sorted
}

// Images lists the images of all pods, sorted. It leaves out images whose names are known only after
// the apply.
func Images(objects []providers.Object) []Image {
	blocks := map[string]map[string]bool{}
	for _, o := range objects {
		path, ok := kinds.Pods(o.Ref().GVK.GroupKind())
		if !ok {
			continue
		}
		for _, list := range []string{"initContainers", "containers"} {
			found, _, _ := unstructured.NestedFieldNoCopy(o.Manifest.Object, append(slices.Clone(path), "spec", list)...)
			containers, _ := found.([]any)
			for _, each := range containers {
				container, _ := each.(map[string]any)
				reference, _ := container["image"].(string)
				if reference == "" || strings.Contains(reference, configs.KnownAfterApply) {
					continue
				}
				if blocks[reference] == nil {
					blocks[reference] = map[string]bool{}
				}
				blocks[reference][o.Address.Block] = true
			}
		}
	}
	images := make([]Image, 0, len(blocks))
	for _, reference := range slices.Sorted(maps.Keys(blocks)) {
		images = append(images, Image{reference, slices.Sorted(maps.Keys(blocks[reference]))})
	}
	return images
}

// Lockable reports whether the lock can contain the image: it has no digest of its own, and a service
// or an exposure uses it. The texts of manifests and charts stay as they are.
func (i Image) Lockable() bool {
	return providers.SplitImage(i.Reference).Digest == "" && slices.ContainsFunc(i.Blocks, func(block string) bool {
		kind := addrs.TypeOf(block)
		return kind == "service" || kind == "exposure"
	})
}

// Build is one of the images that nodes have under the same reference.
type Build struct {
	Digest string
	Nodes  []string // names
}

// Builds returns the builds of the image on the nodes, the most frequent first. Kubelets report up to
// 50 images by default, so that some nodes may be missing.
func (i Image) Builds(nodes []Node) []Build {
	reference := i.Reference
	if split := providers.SplitImage(reference); split.Digest != "" {
		reference = split.Pinned()
	}
	var builds []Build
	var all [][]string // the digests of each build
	for _, node := range nodes {
		if node.Images == nil {
			continue
		}
		digests := node.Images()[reference]
		if len(digests) == 0 {
			continue
		}
		same := slices.IndexFunc(all, func(known []string) bool {
			return slices.ContainsFunc(known, func(digest string) bool { return slices.Contains(digests, digest) })
		})
		if same < 0 {
			same = len(builds)
			builds, all = append(builds, Build{Digest: slices.Min(digests)}), append(all, nil)
		}
		builds[same].Nodes, all[same] = append(builds[same].Nodes, node.Name), append(all[same], digests...)
	}
	slices.SortStableFunc(builds, func(a, b Build) int { return cmp.Compare(len(b.Nodes), len(a.Nodes)) })
	return builds
}

// checkImages warns about images of services that are not locked although others are, and about
// images of which nodes have several builds.
func checkImages(cloud *configs.Cloud, images []Image, nodes []Node) hcl.Diagnostics {
	var diags hcl.Diagnostics
	var unlocked, mixed []string
	for _, image := range images {
		if image.Lockable() && cloud.Lock != nil {
			unlocked = append(unlocked, "  "+image.Reference)
		}
		if providers.SplitImage(image.Reference).Digest != "" {
			continue
		}
		if builds := image.Builds(nodes); len(builds) > 1 {
			mixed = append(mixed, "  "+image.Reference)
			for _, build := range builds {
				mixed = append(mixed, fmt.Sprintf("    %s on %s", build.Digest, words.Few(build.Nodes, 5)))
			}
		}
	}
	if len(unlocked) > 0 {
		diags = append(diags, object.Warning(cloud.Range, "Images are not locked", fmt.Sprintf(
			"%s has no digest for these images. `kolla images -lock` adds them.\n\n%s", imagelock.File, strings.Join(unlocked, "\n"))))
	}
	if len(mixed) > 0 {
		diags = append(diags, object.Warning(cloud.Range, "Nodes have different builds of an image", fmt.Sprintf(
			"The tag was moved after some nodes had pulled the image. Pods run the build that their node has, and different versions of a program may fail together. `kolla images -lock` writes the builds that the tags name now into %s. The next apply then restarts the pods, and all nodes run the same builds.\n\n%s",
			imagelock.File, strings.Join(mixed, "\n"))))
	}
	return diags
}
