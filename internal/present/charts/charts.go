// Package charts makes Helm charts from the objects of a cloud: one for each service, and an
// umbrella chart that contains them. The templates are the rendered objects. Only chosen fields
// are read from the values of the chart, and `helm template` with the default values prints the
// objects that `kolla render` prints.
//
// Export divides the objects among the charts. For each chart, a template (template.go) replaces
// fields by actions, such as {{ .Values.workloads.api.replicas }}, and collects their present
// values as the defaults of the chart. Config files in the INI format become maps of sections and
// options (config.go). Secrets contain no values: files.tpl has named templates that read them
// from the cluster, or generate them on the first install (secrets.go).
package charts

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/secrets"
)

// Input describes the cloud to export.
type Input struct {
	Config  *configs.Config
	Objects []providers.Object // rendered without a cluster
	// Services are the names of the services to export; empty: all.
	Services []string
	Version  string // of kolla
}

// File is a file of the charts.
type File struct {
	Path    string // with slashes, relative to the output directory
	Content string
}

// chart is one chart: that of a service, or the umbrella.
type chart struct {
	name    string
	service *configs.Service // nil: the umbrella
	objects []*providers.Object
}

// cloud is what all charts have in common.
type cloud struct {
	Input
	recipes   recipes
	revisions map[string]string // names of Secrets, by the revisions in the annotations of pods
	public    []public          // replaced in every string
	charts    []*chart
	umbrella  *chart
}

// Export returns the files of the charts, sorted. The umbrella chart has the name of the cloud.
// The charts of the services are in its directory "charts".
func Export(in Input) []File {
	c := newCloud(in)
	var files []File
	var all []*built
	for _, chart := range c.charts {
		b := c.build(chart)
		all = append(all, b)
		files = append(files, b.files(path.Join(c.umbrella.name, "charts", chart.name))...)
	}
	top := c.build(c.umbrella)
	top.contain(all)
	files = append(files, top.files(c.umbrella.name)...)
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return files
}

func newCloud(in Input) *cloud {
	c := &cloud{Input: in, public: publicOf(in.Config), umbrella: &chart{name: in.Config.Cloud.Name}, revisions: map[string]string{}}
	byBlock := map[string]*chart{}
	for i := range in.Config.Services {
		s := &in.Config.Services[i]
		if s.External || len(in.Services) > 0 && !slices.Contains(in.Services, s.Name) {
			continue
		}
		byBlock[s.Block] = &chart{name: s.Name, service: s}
		c.charts = append(c.charts, byBlock[s.Block])
	}
	for i := range in.Objects {
		o := &in.Objects[i]
		switch chart, ok := byBlock[o.Address.Block]; {
		case isLeftOut(o):
		case ok:
			chart.objects = append(chart.objects, o)
		case !isOfService(in.Config, o.Address):
			c.umbrella.objects = append(c.umbrella.objects, o)
		}
	}
	c.charts = slices.DeleteFunc(c.charts, func(chart *chart) bool { return len(chart.objects) == 0 })
	c.recipes = recipesOf(c)
	for i := range in.Objects {
		if address := in.Objects[i].Address; c.recipes[address.Name] != nil && address.Kind == "Secret" {
			c.revisions[secrets.FirstRevision(address, "")] = address.Name
		}
	}
	return c
}

// isLeftOut reports whether no chart has the object: nodes exist already, Helm makes the namespace before it
// installs, and a Job that checks an upgrade would run beside what it checks.
func isLeftOut(o *providers.Object) bool {
	return o.Partial || o.Stage == configs.StageChecks || o.Ref().GVK.GroupKind() == kinds.Namespace && addrs.TypeOf(o.Address.Block) == "cloud"
}

// isOfService reports whether a service block declares the object.
func isOfService(config *configs.Config, address addrs.Object) bool {
	return slices.ContainsFunc(config.Services, func(s configs.Service) bool { return s.Block == address.Block })
}

// fileOf returns the name of the template of an object, without hashes.
func fileOf(o *providers.Object) string {
	name := o.Address.Name
	if o.Family.Name != "" {
		name = o.Family.Name
	}
	if o.Address.Namespace != "" {
		name = o.Address.Namespace + "-" + name
	}
	return fmt.Sprintf("templates/%s-%s.yaml", strings.ToLower(o.Address.Kind), name)
}
