package check

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/releases"
	"kolla.openstack.org/kolla/lang/schema"
)

// Releases reports images that do not fit the release of the cloud, because kolla writes the configuration of that
// release: images of other releases, images of several releases in one service, and distributions for which
// Kolla publishes no images of the release.
func Releases(whole *Whole, cloud *source.Block) {
	c := whole.Config.Cloud
	if c.Release == "" {
		return
	}
	if tagged, _ := configs.ParseTag(c.Tag); tagged != "" && tagged != c.Release {
		warnOfRelease(whole, cloud.AttributeRange("tag"), "The tag is", tagged)
	}
	published := false // some images have names that Kolla publishes them by
	for i := range whole.Services {
		s := &whole.Services[i]
		if s.Config.External || s.Config.Undecided {
			continue
		}
		at := s.Config.ImagesRange
		if s.Block.Attributes["images"] == nil && cloud.Attributes["images"] != nil {
			at = cloud.AttributeRange("images")
		}
		published = checkService(whole, s.Config, at) || published
	}
	known := releases.Named(c.Release).Distros
	if published && c.Tag == "" && c.Registry == schema.KollaRegistry && len(known) > 0 && !slices.Contains(known, c.Distro) {
		whole.Report.Error(cloud.AttributeRange("distro"), "No such images", "%s has no images of %s on %q. Set `distro` to one of %s, or leave it out for %s. For images that you build yourself, set `registry`.",
			c.Registry, c.Release, c.Distro, strings.Join(known, ", "), known[0])
	}
}

// warnOfRelease warns of images of a release that is not the one of the cloud.
func warnOfRelease(whole *Whole, at hcl.Range, what, release string) {
	whole.Report.Warn(at, "Images of another release", "%s of %s, and `release` of the cloud is %s: programs of %s get a configuration for %s, which they may not understand. Use images of %s, or change `release`.",
		what, release, whole.Config.Cloud.Release, release, whole.Config.Cloud.Release, whole.Config.Cloud.Release)
}

// checkService compares the images of a service. It reports whether one of them has no name of its own.
func checkService(whole *Whole, s *configs.Service, at hcl.Range) (published bool) {
	var images []string
	for _, w := range s.Workloads {
		images = append(images, w.Pod.Image)
	}
	for _, job := range s.Jobs {
		images = append(images, job.Pod.Image)
	}
	first := map[string]string{} // the image of a project that came first
	for _, image := range images {
		replaced := strings.Contains(image, "/")
		published = published || !replaced
		project, release := programOf(&whole.Config.Cloud, image)
		if release == "" {
			continue
		}
		if replaced && release != whole.Config.Cloud.Release {
			warnOfRelease(whole, at, "Images of service "+s.Name+" are", release)
		}
		if first[project] == "" {
			first[project] = image
		}
		if _, other := programOf(&whole.Config.Cloud, first[project]); other != release {
			pair := []string{other, release}
			slices.Sort(pair)
			whole.Report.Error(at, "Images of several releases", "Service %q runs images of %s of one project (%s). Programs of one project need the same release: replace all of these images, or none.",
				s.Name, words.Sorted(pair), project)
		}
	}
	return published
}

// programOf returns the project of an image, the first word of its name, and the release, which is empty if it is not known.
func programOf(c *configs.Cloud, image string) (project, release string) {
	name := image[strings.LastIndexByte(image, '/')+1:]
	name, _, _ = strings.Cut(name, "@")
	name, tag, replaced := strings.Cut(name, ":")
	project, _, _ = strings.Cut(name, "-")
	switch {
	case replaced || strings.Contains(image, "/"):
		release, _ = configs.ParseTag(tag)
	case c.Tag == "":
		release = c.Release
	default:
		release, _ = configs.ParseTag(c.Tag)
	}
	return project, release
}
