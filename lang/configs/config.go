package configs

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Config is a whole configuration. Its slices are in the order of the source, by file name and
// position, so that everything made from a Config is deterministic. The Range of a block of the
// catalogue is empty; an Origin has the place in the catalogue.
type Config struct {
	Cloud     Cloud
	Roles     []Role
	Exposures []Exposure
	Secrets   []SharedSecret // beside the services
	Services  []Service
	Manifests []Manifest
	Moves     []addrs.Move
	Removals  []addrs.Removal
	Imports   []addrs.Import
	// Undeclared are the imports to blocks that do not exist; see lang.Options.
	Undeclared []addrs.Import
	// Refused maps each variable to the condition that the value from lang.Options.Prompt does
	// not meet. The diagnostics have the same errors.
	Refused map[string]string
	// Unset are the variables without a value, in order; see lang.Options.
	Unset   []string
	Outputs []Output // of the root
	Checks  []Check  // of all modules
	// Policies are those of the root and of lang.Options.PolicyFiles.
	Policies []Policy
	Data     []Data
	// Undecided are blocks, without keys, that depend on values which have to be known before
	// the apply and are not. A restricted plan leaves the blocks out; in any other plan they
	// are errors. "module.edge.*" stands for all blocks of that module.
	Undecided []string

	// Digest identifies the configuration: a hash over all files and the values of all
	// variables. Of sensitive variables it contains the name only.
	Digest string
	// Variables are the values, with their types, of the variables of the root. Sensitive
	// variables are left out.
	Variables map[string]json.RawMessage
	// Files are the sources that diagnostics quote, by file name.
	Files map[string]*hcl.File
}

// DeferredData returns the addresses of the data blocks that are known only after the apply.
func (c *Config) DeferredData() []string {
	var out []string
	for _, d := range c.Data {
		if d.Deferred {
			out = append(out, d.Block)
		}
	}
	slices.Sort(out)
	return out
}

// Cloud is the one cloud block.
type Cloud struct {
	Name     string
	Release  string // OpenStack release, "2025.1"
	Distro   string // distribution part of image tags, "rocky-9"
	Registry string // "quay.io/openstack.kolla"
	Prefix   string // put before every image name; usually empty
	Tag      string // of the images; empty: RELEASE-DISTRO
	// Images maps names of images, or patterns of path.Match, to full references. "*" in a
	// reference stands for the name.
	Images map[string]string
	// Lock maps full references of images to digests; nil: there is no file with digests.
	Lock        map[string]string
	PullSecrets []string // names of existing Secrets of type dockerconfigjson
	Namespace   string
	Region      string
	Foreign     string // treatment of fields that others add: "revert", "report", "ignore"
	PodSecurity string // "restricted", "baseline", "privileged"; empty: as the services need
	// NetworkPolicy is the default of the services: only clients with a reason may connect to
	// their pods.
	NetworkPolicy bool
	// Logging is how logs are collected: "node" or "sidecar"; empty: they are not. LogVolume is the size of the
	// volume for log files in the mode sidecar.
	Logging, LogVolume string
	// Metrics says how a Prometheus finds the metrics of services; nil: it shall not.
	Metrics *Scraping
	Range   hcl.Range
	// ReleaseRange and TagRange are the places of Release and Tag.
	ReleaseRange, TagRange hcl.Range
}

// The modes of Scraping.
const (
	ScrapeServices = "services"
	ScrapeMonitors = "monitors"
)

// Scraping says how a Prometheus finds the metrics of services.
type Scraping struct {
	Mode   string
	Labels map[string]string // of PodMonitors
	Allows []Allow           // who may connect to the ports with metrics; without ports
	Range  hcl.Range
}

// MetricsService returns the name of the headless Service with the metrics of a workload.
func MetricsService(service, workload string) string { return service + "-" + workload + "-metrics" }

// ExposureMetrics is the workload with the metrics of an exposure of the mode managed.
const ExposureMetrics = "exporter"

// tag is the form of Kolla's tags, RELEASE-DISTRO, with anything behind it: "2025.1-rocky-9-aarch64".
// Other programs have tags such as "2025.1" or "2025.2-rc-1", too.
var tag = regexp.MustCompile(`^(20\d\d\.[12])-((?:rocky|centos|debian|ubuntu|openeuler)-[a-z0-9]+)(?:[-_.+].*)?$`)

// ParseTag reads a tag of Kolla's images. The results are empty if the tag has no release and
// distribution.
func ParseTag(text string) (release, distro string) {
	found := tag.FindStringSubmatch(text)
	if found == nil {
		return "", ""
	}
	return found[1], found[2]
}

// ImageTag returns the tag of the images.
func (c Cloud) ImageTag() string { return cmp.Or(c.Tag, c.Release+"-"+c.Distro) }

// ImageRelease returns the OpenStack release of the images: that of Tag, if it names one.
func (c Cloud) ImageRelease() string {
	release, _ := ParseTag(c.Tag)
	return cmp.Or(release, c.Release)
}

// TaggedRelease returns the OpenStack release that the tag of an image names; empty: none. The image is a name, or a
// full reference.
func (c Cloud) TaggedRelease(image string) string {
	tag := c.Tag
	if strings.Contains(image, "/") {
		tagged, _, _ := strings.Cut(image, "@")
		tag = tagged[strings.LastIndexAny(tagged, "/:")+1:]
	}
	release, _ := ParseTag(tag)
	return release
}

// ImageDistro returns the distribution of the images: that of Tag, if it names one.
func (c Cloud) ImageDistro() string {
	_, distro := ParseTag(c.Tag)
	return cmp.Or(distro, c.Distro)
}

// Backend says where the state is kept.
type Backend struct {
	Kind      string // LocalBackend or KubernetesBackend
	Namespace string // of KubernetesBackend
	Cloud     string // name of the cloud
	// CloudNamespace is the namespace of the cloud. It is empty if variables decide about it.
	CloudNamespace string
}

// The kinds of backends.
const (
	LocalBackend      = "local"
	KubernetesBackend = "kubernetes"
)

// Exposure returns the exposure with a name, or nil.
func (c *Config) Exposure(name string) *Exposure {
	if i := slices.IndexFunc(c.Exposures, func(x Exposure) bool { return x.Name == name }); i >= 0 {
		return &c.Exposures[i]
	}
	return nil
}

// CatalogueDir stands before the names of the catalogue's files in ranges, to tell them from
// files of the user.
const CatalogueDir = "<catalogue>"

// InCatalogue reports whether a range is in the catalogue.
func InCatalogue(r hcl.Range) bool { return strings.HasPrefix(r.Filename, CatalogueDir) }
