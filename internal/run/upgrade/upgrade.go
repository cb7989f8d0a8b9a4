package upgrade

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/releases"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Input contains the sources of the releases.
type Input struct {
	Config *configs.Config
	Plan   *plans.Plan
	// Installed is the release of the cloud, if it is known; see OfNamespace.
	Installed plans.Images
	// Live returns the present version of an object, or nil if it does not exist.
	Live func(providers.Ref) *unstructured.Unstructured
	// Forced are the releases that the operator insists on.
	Forced []string
	// ForcedData are the blocks of the services whose programs start with data that they may not take over.
	ForcedData []string
	// Rest: an earlier round has applied a part of the plan, so that Forced and ForcedData may be done.
	Rest bool
}

// OfNamespace returns the release that the cloud's namespace names. It is zero if the namespace
// does not exist, or has no usable annotation.
func OfNamespace(live *unstructured.Unstructured) plans.Images {
	if live == nil {
		return plans.Images{}
	}
	name, distro, _ := strings.Cut(live.GetAnnotations()[providers.AnnotationRelease], "-")
	if !release.MatchString(name) {
		return plans.Images{}
	}
	return plans.Images{Release: name, Distro: distro}
}

// Find returns the upgrade that a plan makes; nil: there is none. The problems are changes of
// the release that OpenStack does not support. They are warnings if the operator insists.
func Find(in Input) (*plans.Upgrade, []plans.Problem) {
	f := &finder{Input: in, stranded: map[string]plans.Problem{}, upgrade: &plans.Upgrade{To: plans.Images{Release: in.Config.Cloud.ImageRelease(), Distro: in.Config.Cloud.ImageDistro()}}}
	services := map[string]*configs.Service{}
	for i := range in.Config.Services {
		services[in.Config.Services[i].Block] = &in.Config.Services[i]
	}
	for i := range in.Plan.Actions {
		a := &in.Plan.Actions[i]
		service := services[a.Address.Block]
		if a.Object == nil || service == nil {
			continue
		}
		if a.Object.Stage == configs.StageChecks && a.Verb != plans.None && !slices.Contains(f.upgrade.Checks, service.Name) {
			f.upgrade.Checks = append(f.upgrade.Checks, service.Name)
		}
		if !a.RunsPodsContinuously() {
			continue
		}
		if live := in.Live(a.Ref); live != nil && a.Verb != plans.None {
			f.workload(a.Object, live, service)
		}
	}
	u := f.upgrade
	slices.Sort(u.Checks)
	u.From = in.Installed
	if u.From.Release != "" {
		f.judge(step{at: f.decides(), from: u.From, to: u.To})
	}
	if tag := f.Config.Cloud.Tag; tag == "" || Parse(tag).Release != "" { // the images are known
		f.processors(u.From, u.To)
	}
	if u.From.Release == "" && len(u.Services) == 0 || same(u.From, u.To) && len(u.Services) == 0 {
		return nil, f.unneeded()
	}
	return u, append(f.problems(), f.unneeded()...)
}

func same(from, to plans.Images) bool {
	return from.Release == to.Release && (from.Distro == "" || to.Distro == "" || from.Distro == to.Distro)
}

// own returns the cloud's tag, or the default tag of its release and distribution.
func (f *finder) own() string {
	return cmp.Or(f.Config.Cloud.Tag, plans.Images{Release: f.Config.Cloud.Release, Distro: f.Config.Cloud.Distro}.String())
}

// decides returns the place of the value that determines the images of the cloud.
func (f *finder) decides() hcl.Range {
	if release, _ := configs.ParseTag(f.Config.Cloud.Tag); release != "" {
		return f.Config.Cloud.TagRange
	}
	return f.Config.Cloud.ReleaseRange
}

// finder collects the changes of a plan.
type finder struct {
	Input
	upgrade *plans.Upgrade
	refused []step
	// stranded are programs whose new version does not take over the data, by the block of the service.
	stranded map[string]plans.Problem
}

// step is a change that OpenStack does not support.
type step struct {
	at       hcl.Range // of the value that decides about the images
	from, to plans.Images
	services []string // empty: the cloud
}

// workload compares the images of a workload.
func (f *finder) workload(object *providers.Object, live *unstructured.Unstructured, service *configs.Service) {
	desired := object.Manifest
	f.data(desired, live, service)
	before, after := imagesOf(live), imagesOf(desired)
	for _, container := range slices.Sorted(maps.Keys(after)) {
		image := after[container]
		from, to := Parse(before[container].Tag), Parse(image.Tag)
		at := service.ImagesRange
		if image.Tag == f.own() {
			at = f.decides()
		}
		if from.Release == "" || to.Release == "" || same(from, to) {
			continue
		}
		f.add(service, from, to)
		if from.Release != to.Release && providers.ReplacesOnRequest(live) {
			f.onRequest(object, live)
		}
		f.processors(from, to)
		f.judge(step{at: at, from: from, to: to, services: []string{service.Name}})
	}
}

// onRequest notes what a rollout of a workload disturbs, and whether an earlier one is left.
func (f *finder) onRequest(object *providers.Object, live *unstructured.Unstructured) {
	u, name := f.upgrade, live.GetName()
	if providers.OutdatedPods(live) > 0 && !slices.Contains(u.Waiting, name) {
		u.Waiting = append(u.Waiting, name)
	}
	if text := fmt.Sprintf("%s (%s)", object.Loss, name); object.Loss != "" && !slices.Contains(u.Disturbs, text) {
		u.Disturbs = append(u.Disturbs, text)
	}
}

// goesBack returns the tag of an image that changes to one of an older release; empty: none does.
func goesBack(before, after map[string]providers.ImageReference) string {
	for _, container := range slices.Sorted(maps.Keys(after)) {
		from, to := Parse(before[container].Tag), Parse(after[container].Tag)
		if to.Release != "" && to.Release < from.Release {
			return before[container].Tag
		}
	}
	return ""
}

// data compares the versions of the program that has the data of a workload.
func (f *finder) data(desired, live *unstructured.Unstructured, service *configs.Service) {
	from, to := providers.DataVersionOf(live), providers.DataVersionOf(desired)
	if from.Program != to.Program || from.Version == to.Version {
		return
	}
	change := plans.VersionChange{Program: to.Program, From: from.Version, To: to.Version}
	if slices.Contains(f.upgrade.Versions, change) {
		return
	}
	f.upgrade.Versions = append(f.upgrade.Versions, change)
	if to.From == nil || slices.Contains(to.From, from.Version) {
		return
	}
	option := "-force-data=" + service.Block
	p := plans.Problem{
		Source:  source(f.decides()),
		Warning: slices.Contains(f.ForcedData, service.Block),
		Summary: fmt.Sprintf("%s %s does not start with the data of %s", to.Program, to.Version, from.Version),
	}
	advice := insist(option, p.Warning)
	if tag := goesBack(imagesOf(live), imagesOf(desired)); tag != "" && !p.Warning {
		advice = fmt.Sprintf("The data do not go back. To let only other services go back, write images of %s into its block, with `images`.", tag)
	}
	p.Detail = strings.Join(slices.DeleteFunc([]string{
		fmt.Sprintf("Service %s has data of %s %s, and the new images take over those of %s.", service.Name, from.Program, from.Version, strings.Join(to.From, ", ")),
		to.Detail, advice,
	}, func(sentence string) bool { return sentence == "" }), " ")
	f.stranded[service.Block] = p
}

// insist says how the operator insists on a change, or that he does.
func insist(option string, insisted bool) string {
	if insisted {
		return option + " insists on it."
	}
	return fmt.Sprintf("If you know that it works, insist with %s.", option)
}

// add adds a service whose images change.
func (f *finder) add(service *configs.Service, from, to plans.Images) {
	u := f.upgrade
	if slices.ContainsFunc(u.Services, func(s plans.ServiceUpgrade) bool { return s.Block == service.Block }) {
		return
	}
	u.Services = append(u.Services, plans.ServiceUpgrade{Name: service.Name, Block: service.Block, From: from, To: to})
	if len(service.Databases) > 0 && from.Release != to.Release {
		u.Databases = append(u.Databases, service.Name)
	}
	slices.SortFunc(u.Services, func(a, b plans.ServiceUpgrade) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(u.Databases)
}

// judge adds a change that OpenStack does not support. Several services with the same change are
// one problem.
func (f *finder) judge(s step) {
	f.upgrade.Backward = f.upgrade.Backward || s.to.Release < s.from.Release
	if ok, _ := Supported(s.from.Release, s.to.Release); ok {
		return
	}
	for i := range f.refused {
		if o := &f.refused[i]; o.at == s.at && o.from.Release == s.from.Release && o.to.Release == s.to.Release {
			if len(s.services) == 0 {
				o.services = nil // the change of the cloud includes it
			} else if len(o.services) > 0 && !slices.Contains(o.services, s.services[0]) {
				o.services = append(o.services, s.services[0])
			}
			return
		}
	}
	f.refused = append(f.refused, s)
}

// processors adds the processor level that a change of the distribution needs.
func (f *finder) processors(from, to plans.Images) {
	if from.Distro != "" && releases.Processors(to.Distro) > releases.Processors(from.Distro) {
		f.upgrade.Processors = max(f.upgrade.Processors, releases.Processors(to.Distro))
	}
}

// problems describes the unsupported changes.
func (f *finder) problems() []plans.Problem {
	var out []plans.Problem
	for _, block := range slices.Sorted(maps.Keys(f.stranded)) {
		out = append(out, f.stranded[block])
	}
	for _, s := range f.refused {
		p := plans.Problem{Source: source(s.at), Warning: slices.Contains(f.Forced, s.to.Release)}
		what := "The cloud"
		if len(s.services) > 0 {
			slices.Sort(s.services)
			what = words.Capital(words.Plural(len(s.services), "service ", "services ")) + words.Few(s.services, 5)
		}
		stay := s.from.String()
		if s.at == f.Config.Cloud.ReleaseRange {
			stay = s.from.Release
		}
		insist := insist("-force-release="+s.to.Release, p.Warning)
		verb := "run"
		if len(s.services) < 2 {
			verb = "runs"
		}
		if s.to.Release < s.from.Release {
			p.Summary = fmt.Sprintf("OpenStack would go back from %s to %s", s.from.Release, s.to.Release)
			p.Detail = fmt.Sprintf("%s %s %s. OpenStack does not support a downgrade: the older release may not start with the tables of the newer one, nor older versions of MariaDB and RabbitMQ with the data of newer ones. To stay, declare %s here. To go back, restore the backups that you made before the upgrade. %s",
				what, verb, s.from, stay, insist)
		} else {
			_, via := Supported(s.from.Release, s.to.Release)
			p.Summary = fmt.Sprintf("OpenStack cannot go from %s to %s in one step", s.from.Release, s.to.Release)
			p.Detail = fmt.Sprintf("%s %s %s. OpenStack supports an upgrade to the next release, and from the first release of a year to the first of the next year. Upgrade to %s first. %s",
				what, verb, s.from, via, insist)
		}
		out = append(out, p)
	}
	return out
}

// unneeded returns problems of the releases and the data that the operator insists on: an error for a text that
// is no release, and a warning if nothing is forced.
func (f *finder) unneeded() []plans.Problem {
	var out []plans.Problem
	for _, name := range f.Forced {
		switch {
		case !release.MatchString(name):
			out = append(out, plans.Problem{
				Summary: "-force-release needs a release",
				Detail:  fmt.Sprintf("%q is not a release of OpenStack, such as %s.", name, releases.Names()[0]),
			})
		case !f.Rest && !slices.ContainsFunc(f.refused, func(s step) bool { return s.to.Release == name }):
			out = append(out, plans.Problem{
				Warning: true, Summary: fmt.Sprintf("-force-release=%s forces nothing", name),
				Detail: "The plan has no step to this release that OpenStack does not support. Leave the option out, or it would also force a later one.",
			})
		}
	}
	for _, block := range f.ForcedData {
		if _, stranded := f.stranded[block]; !stranded && !f.Rest {
			out = append(out, plans.Problem{
				Warning: true, Summary: fmt.Sprintf("-force-data=%s forces nothing", block),
				Detail: "No program of this service gets data of a version that it does not take over. The option needs the address of a service, such as service.rabbitmq. Leave it out, or it would also force a later change.",
			})
		}
	}
	return out
}

// source formats the place of a declaration: "cloud.hcl:41".
func source(r hcl.Range) string {
	if r.Filename == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line)
}

// Namespace returns the cloud's namespace.
func Namespace(config *configs.Config) providers.Ref {
	return providers.Ref{GVK: kinds.Namespace.WithVersion("v1"), Name: config.Cloud.Namespace}
}
