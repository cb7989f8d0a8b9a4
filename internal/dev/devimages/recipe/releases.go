package recipe

import (
	"fmt"
	"slices"
	"strings"
)

// Release is a release of OpenStack with a Debian suite that contains its programs, or those around them.
type Release struct {
	// Name is the release, with the suite if another one has its OpenStack.
	Name string
	// Suite is the Debian suite of the packages.
	Suite string
	// Tag is the default tag of the images: Kolla's tag of the release, for a distribution that
	// Kolla has images of. It need not be the suite.
	Tag string
	// Sources are apt's sources. MIRROR and SECURITY stand for the URLs of Debian's archives.
	Sources []string
	// AptOptions are options that apt needs for the suite.
	AptOptions []string
	// Images are the images that a build makes if the caller names none. If it is empty, these are
	// all images.
	Images []string
}

// Releases returns all releases. The first one is the default.
func Releases() []Release {
	return []Release{
		{
			Name:  "2025.1",
			Suite: "trixie",
			Tag:   "2025.1-debian-trixie",
			Sources: []string{
				"deb MIRROR trixie main",
				"deb MIRROR trixie-updates main",
				"deb SECURITY trixie-security main",
			},
		},
		{
			// What Kolla's images of this tag take from Debian. Their OpenStack does not come from there.
			Name:  "2025.1-bookworm",
			Suite: "bookworm",
			Tag:   "2025.1-debian-bookworm",
			Sources: []string{
				"deb MIRROR bookworm main",
				"deb MIRROR bookworm-updates main",
				"deb SECURITY bookworm-security main",
			},
			Images: []string{
				"haproxy", "keepalived", "mariadb-server", "memcached", "nova-libvirt",
				"openvswitch-db-server", "openvswitch-vswitchd",
				"ovn-controller", "ovn-nb-db-server", "ovn-northd", "ovn-sb-db-relay", "ovn-sb-db-server",
			},
		},
		{
			// Debian testing has five services of this release. The others are of 2026.2, or absent. Nova's proxy of
			// consoles does not answer in Python 3.14; Kolla's images of 2026.1 have 3.12 or 3.13.
			Name:       "2026.1",
			Suite:      "forky",
			Tag:        "2026.1-debian-trixie",
			Sources:    []string{"deb MIRROR forky main"},
			AptOptions: snapshot,
			Images: slices.DeleteFunc(slices.Clone(upgraded), func(image string) bool {
				project, _, _ := strings.Cut(image, "-")
				return image == "nova-novncproxy" || !slices.Contains([]string{"cinder", "heat", "neutron", "nova", "placement"}, project)
			}),
		},
		{
			Name:       "2026.2",
			Suite:      "sid",
			Tag:        "2026.2-debian-trixie",
			Sources:    []string{"deb MIRROR sid main"},
			AptOptions: snapshot,
			Images:     upgraded,
		},
	}
}

// snapshot are the options for suites that change each day. Mirrors may keep a snapshot of them for longer
// than its metadata is valid.
var snapshot = []string{`Acquire::Check-Valid-Until "false"`}

// upgraded are the images of examples/compute-kit. A test upgrades this cloud. The programs around it
// are those of the default release.
var upgraded = []string{
	"barbican-api", "barbican-keystone-listener", "barbican-worker",
	"cinder-api", "cinder-backup", "cinder-scheduler", "cinder-volume",
	"glance-api",
	"heat-api", "heat-api-cfn", "heat-engine",
	"horizon",
	"keystone",
	"mariadb-server",
	"memcached",
	"neutron-metadata-agent", "neutron-server",
	"nova-api", "nova-compute", "nova-conductor", "nova-libvirt", "nova-novncproxy", "nova-scheduler", "nova-ssh",
	"openvswitch-db-server", "openvswitch-vswitchd",
	"ovn-controller", "ovn-nb-db-server", "ovn-northd", "ovn-sb-db-relay", "ovn-sb-db-server",
	"placement-api",
	"rabbitmq",
}

// FindRelease returns the release with the name. The empty name is that of the default.
func FindRelease(name string) (Release, error) {
	all := Releases()
	if name == "" {
		return all[0], nil
	}
	var names []string
	for _, release := range all {
		if release.Name == name {
			return release, nil
		}
		names = append(names, release.Name)
	}
	return Release{}, fmt.Errorf("there are no images of a release %q; there are those of %s", name, strings.Join(names, ", "))
}

// AptSources returns the lines of apt's sources, with the URLs of Debian's archives.
func (r Release) AptSources(mirror, security string) []string {
	lines := slices.Clone(r.Sources)
	urls := strings.NewReplacer("MIRROR", mirror, "SECURITY", security)
	for i, line := range lines {
		lines[i] = urls.Replace(line)
	}
	return lines
}
